import type { Description } from "../../http/documentation/description.ts";
import { unknownAttribute } from "./device-descriptions.ts";

export const followEvents: Description = {
  operationId: "followEvents",
  tag: "Events",
  summary: "Follow events",
  words: [
    "A stream of Server-Sent Events about the devices that the token covers, in the order in which changes became durable. `attribute`: an attribute was written or changed: `{deviceId, name, value, updateTime, cause}`, with null for one that became blank. `link`: the new state of a linked account. `command`: the new state of a fan request. `alert`: an alert on an attribute fired; only for tokens with the scope `alerts`. `device`: a device was added or removed. `thing` and `thingCommand`: only with `things=true`, see below. `heartbeat`: every 15 seconds, and when a stream begins, so that you always have an id. With `heartbeatSeconds` you choose the interval, and the event repeats it: `{time, everySeconds}`. If no heartbeat comes for longer than that, the stream is dead, or the store does not answer: your data is then as of the last heartbeat. A stream that resumes far back has heartbeats with `catchingUp: true` while it sends old events. Their `time` is that of the change which the stream has reached, and their id can be resumed: you are current at the next heartbeat without `catchingUp`.",
    'With `things=true` the stream also has an event `thing` for each thing that a commit changed, after the `attribute` events of that commit: `{deviceId, thingId, what, fields, updateTime, cause}`. `what` is `added` (also for a thing that was gone), `changed` (its description or capabilities, and perhaps fields), `state` (only fields) or `gone`. `fields` holds the changed fields by trait and name, as in `{"smoke.state": {"value": "alarm"}}`. Read a thing that was added or changed with `GET /v3/things/{thingId}`. There is no `cause` when the account was unlinked. An event `thingCommand` shows the new state of a command to a thing: `{deviceId, commandId, thingId, trait, command, params, state, error, requestedTime, time}`, as in its receipt, with `cause` if an alert sent it. For the thing of an own device it has `writes` while the state is `sending`: the attributes that the device should show, with their values. Write them to the device when it shows them. An alert on a thing that fires is an event `alert` with `thingId` and `field`, also only with `things=true`.',
    "With `linkSessions=true`, which needs the scope `links`, the stream also has an event `linkSession` when a link session ends or expires: `{deviceId, linkSessionId, ecosystem, mode, status, problem, time}`. `status` is `linked`, `declined`, `failed` or `expired`; `deviceId` is null unless it is `linked`; `problem` is there when it is `failed`, and when it is `expired` after something went wrong. A session in which nobody has signed in, and for which the client has named no user, expires without an event.",
    "Every event has an id. Send the last one you saw as `Last-Event-ID` (every EventSource does) and the stream continues after it, without a gap and without a repetition, after a restart and on every node. When that is no longer possible you get `resync` with a `reason`: `past_retention` (the id is older than what is kept, 7 days unless configured), `unknown_id`, `restored` (the store was restored, or a standby promoted), or `too_slow` (more than 1 MB waited for you to read it; the stream then ends). Then read your devices again; the stream continues at the id of the `resync`.",
    "A client may have 16 streams open at once for one user, unless configured otherwise. One more ends the oldest, which can resume after its last id.",
    "The stream ends with the token, by expiry or revocation, and when the service stops: connect again with a fresh token and the last id.",
  ],
  parameters: [
    {
      name: "deviceId",
      in: "query",
      isRequired: false,
      isRepeatable: true,
      schema: { type: "string" },
      meaning: "Only events of this device.",
      example: "41",
    },
    {
      name: "attribute",
      in: "query",
      isRequired: false,
      isRepeatable: true,
      schema: { type: "string" },
      meaning:
        "Of the `attribute` events only those of this attribute, in any published spelling; events use yours. `a,b` is read as two names.",
      example: "d.structures[1].a.away",
    },
    {
      name: "things",
      in: "query",
      isRequired: false,
      schema: { type: "string", enum: ["true", "false"] },
      meaning:
        "Whether the stream has `thing` and `thingCommand` events, and `alert` events of alerts on things; false by default.",
      example: "true",
    },
    {
      name: "thingId",
      in: "query",
      isRequired: false,
      isRepeatable: true,
      schema: { type: "string" },
      meaning: "Of the events about things only those of this thing. Needs `things=true`.",
      example: "t_Zk3xV0bqT2m8cQx1r5sYwA",
    },
    {
      name: "linkSessions",
      in: "query",
      isRequired: false,
      schema: { type: "string", enum: ["true", "false"] },
      meaning: "Whether the stream has `linkSession` events; false by default. Needs the scope `links`.",
      example: "true",
    },
    {
      name: "lastEventId",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "For clients that can't send the `Last-Event-ID` header. The header takes precedence.",
    },
    {
      name: "heartbeatSeconds",
      in: "query",
      isRequired: false,
      schema: { type: "integer", minimum: 2, maximum: 15 },
      meaning: "The heartbeat interval in seconds; 15 by default. A short one shows a dead stream sooner.",
      example: "2",
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "The stream. It does not end by itself.",
      content: {
        contentType: "text/event-stream",
        schema: { type: "string" },
        example:
          'id: 0-2s\nevent: attribute\ndata: {"deviceId":41,"name":"d.structures[1].a.away","value":"away","updateTime":1785312000000,"cause":{"by":"ecosystem"}}\n\n',
      },
    },
  ],
  errors: [
    { status: 400, code: "invalid_request", when: "A parameter is malformed." },
    { status: 404, code: "unknown_device", when: "The token gives access to no device with one of the ids." },
    unknownAttribute,
    { status: 404, code: "unknown_thing", when: "The token gives access to no thing with one of the ids." },
    {
      status: 409,
      code: "limit_reached",
      when: "The filter has more than 100 devices, 600 attribute names or 100 things.",
    },
  ],
};
