import { parseAttributeNames } from "../../devices/attribute-parameter.ts";
import type { DeviceReading } from "../../devices/read.ts";
import { wireName } from "../../devices/wire-attribute.ts";
import { boundedNames } from "../../events/event-filter.ts";
import type { Events } from "../../events/events.ts";
import type { Federation } from "../../federation/federation.ts";
import { readFieldName } from "../../home/field-names.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter } from "../../model/errors.ts";
import type { ThingReading } from "../../own-things/thing-reading.ts";
import { getCommands, getHistory, getThingHistory } from "./history-descriptions.ts";
import { allValues, deviceIdOf, singleValue, timeOf } from "./v3-parameters.ts";

export interface HistoryRouteParts {
  readonly devices: Pick<DeviceReading, "device">;
  readonly things: Pick<ThingReading, "find">;
  readonly events: Pick<Events, "history" | "thingHistory">;
  readonly federation: Pick<Federation, "receipts">;
}

/** Past changes of devices and things, and fan requests of a device. */
export function historyRoutes({ devices, things, events, federation }: HistoryRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/v3/devices/:deviceId/history",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getHistory,
      async answer(incoming, caller) {
        const range = rangeOf(incoming);
        const device = await devices.device(caller, deviceIdOf(incoming));
        const { id, userId } = device;
        const query = {
          ...range,
          attributes: boundedNames(parseAttributeNames(allValues(incoming, "attribute"), [device])),
        };
        const { changes, nextFromMs } = await events.history(userId, id, query);
        return jsonAnswer(200, {
          deviceId: id,
          changes: changes.map(({ name, value, updateTimeMs, cause }) => ({
            name,
            value,
            updateTime: updateTimeMs,
            cause,
          })),
          ...(nextFromMs !== undefined && { cursor: nextFromMs.toString(36) }),
        });
      },
    },
    {
      methods: ["GET"],
      path: "/v3/things/:thingId/history",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getThingHistory,
      async answer(incoming, caller) {
        const query = { ...rangeOf(incoming), fields: fieldsOf(incoming) };
        const thing = await things.find(caller, incoming.pathParameters.thingId ?? "");
        const { changes, nextFromMs } = await events.thingHistory(thing, query);
        return jsonAnswer(200, {
          thingId: thing.thingId,
          deviceId: thing.deviceId,
          changes: changes.map(({ what, fields, updateTimeMs, cause }) => ({
            what,
            fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }])),
            updateTime: updateTimeMs,
            cause,
          })),
          ...(nextFromMs !== undefined && { cursor: nextFromMs.toString(36) }),
        });
      },
    },
    {
      methods: ["GET"],
      path: "/v3/devices/:deviceId/commands",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getCommands,
      async answer(incoming, caller) {
        const { id, userId } = await devices.device(caller, deviceIdOf(incoming));
        const receipts = await federation.receipts(userId, id);
        return jsonAnswer(200, {
          deviceId: id,
          commands: receipts.map((receipt) => ({
            commandId: receipt.id,
            name: wireName(receipt.attribute),
            value: receipt.value,
            state: receipt.state,
            text: receipt.text,
            requestedTime: receipt.requestedMs,
            sentTime: receipt.sentMs,
            settledTime: receipt.settledMs,
          })),
        });
      },
    },
  ];
}

function rangeOf(incoming: Incoming): { readonly fromMs: number; readonly toMs: number } {
  return {
    fromMs: readCursor(incoming) ?? timeOf(incoming, "from") ?? 0,
    toMs: timeOf(incoming, "to") ?? Number.MAX_SAFE_INTEGER,
  };
}

/** The named fields, each as `trait.field`. The catalogue bounds how many there are. */
function fieldsOf(incoming: Incoming): readonly string[] {
  const fields = allValues(incoming, "field");
  for (const name of fields) {
    if (!readFieldName(name)) {
      throw new BadParameter(
        "field",
        "The parameter field must be a trait and one of its fields, such as smoke.state.",
      );
    }
  }
  return fields;
}

/** The start of the next page in the same time range; it replaces `from`. */
function readCursor(incoming: Incoming): number | undefined {
  const cursor = singleValue(incoming, "cursor");
  if (cursor === undefined) return undefined;
  const fromMs = /^[0-9a-z]{1,10}$/.test(cursor) ? Number.parseInt(cursor, 36) : undefined;
  if (fromMs === undefined || fromMs < (timeOf(incoming, "from") ?? 0)) {
    throw new BadParameter("cursor", "The parameter cursor must be one that this history answered.");
  }
  return fromMs;
}
