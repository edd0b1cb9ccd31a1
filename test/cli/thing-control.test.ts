import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { CommandReceipt } from "../../sdk/src/index.ts";
import { eventInWords } from "../../src/cli/nouns/event-words.ts";
import { outcomeInWords } from "../../src/cli/things/receipt-view.ts";
import { controlScope, receivedBy } from "../stories/thing-client.ts";
import { addOlderClient, authorize } from "../stories/v3-client.ts";
import { eventually, person, world } from "../stories/world.ts";
import { startCommand } from "./long-running-command.ts";
import { type CommandContext, typed } from "./typed.ts";

/** A linked home with one thermostat, and a command line on the machine of its service. */
async function home(t: TestContext) {
  const story = await world(t, { structures: [{ name: "Maple Street", thermostats: 1 }], allowsPrivateWebhooks: true });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
  const environment = { BREEZEWAY_DATA: story.config.dataFolder, NO_COLOR: "1" };
  const at = (args: readonly string[], context: CommandContext = {}) => typed(args, { environment, ...context });
  const { things } = (await at(["thing", "list", "--kind", "thermostat"])).json;
  const thingId: string = things[0].thingId;
  return { story, environment, at, thingId, sent: () => receivedBy(story) };
}

describe("the command line, with commands to things", () => {
  it("sends a command, waits until the thing shows it, and lists what became of it", async (t) => {
    const { at, thingId, sent } = await home(t);
    const off = await at(["thing", "command", thingId, "thermostat", "setMode", "mode=off"], { columns: 120 });
    assert.deepEqual([off.code, off.out], [0, "Done: thermostat setMode mode=off. The thing shows it.\n"], off.err);
    const fan = await at(["thing", "command", thingId, "fanTimer", "start", "minutes=15"]);
    assert.deepEqual([fan.code, fan.json.state, fan.json.params], [0, "confirmed", { minutes: 15 }]);
    assert.equal(sent().length, 2);

    const { commands } = (await at(["thing", "receipts", thingId])).json;
    assert.deepEqual(
      commands.map(({ command }: CommandReceipt) => command),
      ["start", "setMode"],
    );
    const table = (await at(["thing", "receipts", thingId], { columns: 120 })).out;
    assert.match(table, /^COMMAND +STATE +WHAT +WHEN +WHY\nc\d+ +confirmed +fanTimer start minutes=15 +\d+ s ago +-\n/);
    const one = await at(["thing", "receipt", thingId, fan.json.commandId], { columns: 120 });
    assert.match(one.out, /\nwhat +fanTimer start minutes=15\nstate +confirmed\n[\s\S]*\nsent +\d{4}-/);
  });

  it("says why a command was not carried out, and ends with a code of failure", async (t) => {
    const { at, thingId, sent } = await home(t);
    const command = (...words: string[]) => at(["thing", "command", thingId, ...words], { columns: 200 });
    const refused = await command("brightness", "set", "percent=5");
    assert.equal(refused.code, 1);
    assert.match(
      refused.out,
      /^Not carried out: brightness set percent=5\. The thing does not accept brightness\.set: /,
    );
    const wrong = await command("fanTimer", "start", "minutes=soon");
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /The parameter "minutes" must be a number/);
    assert.match((await command("fanTimer", "start", 'minutes="5"')).err, /must be a number/, "quotes make a text");
    assert.match(
      (await command("fanTimer", "start", "soon")).err,
      /"soon" should be name=value, as in celsius=20\.5\./,
    );
    assert.equal((await command("fanTimer", "jump")).code, 2);
    const unknown = await at(["thing", "command", "t_none", "fanTimer", "stop"]);
    assert.equal(unknown.code, 5);
    assert.match(unknown.err, /There is no thing t_none\. See all with: breezeway thing list\n$/);
    const none = await at(["thing", "receipts", thingId, "c999"]);
    assert.equal(none.code, 5);
    assert.match(none.err, /has no command c999\. See all with: breezeway thing receipts t_/);
    assert.deepEqual(sent(), []);
  });

  it("only stores a command with --wait 0", async (t) => {
    const { at, thingId } = await home(t);
    const stored = await at(["thing", "command", thingId, "fanTimer", "start", "--wait", "0"]);
    assert.deepEqual([stored.code, stored.json.state], [0, "queued"]);
    await eventually(t.signal, async () => {
      const { state } = (await at(["thing", "receipts", thingId, stored.json.commandId])).json;
      assert.equal(state, "confirmed");
    });
    assert.match((await at(["thing", "command", thingId, "fanTimer", "stop", "--wait", "-1"])).err, /--wait must be/);
  });

  it("says what to do when a client of an earlier version was granted no scope", async (t) => {
    const { story, thingId } = await home(t);
    const client = await addOlderClient(story.service, "Story");
    const as = async (scope: string | undefined, ...words: string[]) => {
      const { accessToken } = await authorize(() => story.service.baseUrl, client, person, scope);
      const environment = { BREEZEWAY_TOKEN: accessToken, BREEZEWAY_DATA: "/nowhere" };
      const args = ["thing", "command", thingId, ...words, "--url", story.service.baseUrl];
      return typed(args, { environment });
    };
    const refused = await as(undefined, "thermostat", "setMode", "mode=off");
    assert.equal(refused.code, 4);
    assert.match(refused.err, /without scopes only starts and stops fans\. Ask for scope=devices:control/);
    assert.equal((await as(undefined, "fanTimer", "start")).code, 0);
    assert.equal((await as(controlScope, "thermostat", "setMode", "mode=off")).code, 0);
  });

  it("shows events of things, and adds webhooks that receive them", async (t) => {
    const { at, environment, thingId } = await home(t);
    // An unknown id is answered by a resync, which shows that the stream has begun.
    const watch = ["event", "watch", "--thing", thingId, "--after", "none", "--json"];
    const { next } = startCommand(t, watch, environment);
    assert.equal((await next()).type, "resync");
    assert.equal((await at(["thing", "command", thingId, "fanTimer", "start"])).code, 0);
    const states: string[] = [];
    let isShown = false;
    while (!isShown || states.at(-1) !== "confirmed") {
      const event = await next();
      if (event.type === "thing" || event.type === "thingCommand") assert.equal(event.thingId, thingId);
      if (event.type === "thingCommand") states.push(event.state);
      isShown ||= event.type === "thing" && event.fields["fanTimer.active"]?.value === true;
    }
    assert.equal(states[0], "queued");

    const url = "http://127.0.0.1:9/hook";
    assert.equal((await at(["webhook", "add", url, "--things"])).json.things, true);
    assert.equal((await at(["webhook", "add", url])).json.things, undefined);
    const listed = (await at(["webhook", "list"], { columns: 120 })).out;
    assert.deepEqual(listed.match(/ (yes|no)$/gm)?.toSorted(), [" no", " yes"]);
  });
});

describe("the words of the command line", () => {
  const receipt: CommandReceipt = {
    ...{ commandId: "c7", thingId: "t_1", trait: "thermostat", command: "setTarget", params: { celsius: 20.5 } },
    ...{ state: "queued", error: null, requestedTime: 1, sentTime: null, settledTime: null },
  };

  it("name every outcome of a command", () => {
    const words = "thermostat setTarget celsius=20.5";
    const text = "The thing is offline.";
    const cases: readonly (readonly [Partial<CommandReceipt>, string])[] = [
      [{ state: "accepted" }, `The ecosystem accepted ${words}. The thing does not show it yet. See: breezeway thing`],
      [{ state: "contradicted" }, `The ecosystem accepted ${words}, but the thing shows another state.`],
      [{ state: "rejected", error: { code: "offline", text } }, `Not carried out: ${words}. ${text}`],
      [{ state: "expired", error: { code: "notSent", text } }, `Not carried out: ${words}. ${text}`],
      [{ state: "expired", error: { code: "noAnswer", text } }, `The outcome is unknown: ${words}. ${text}`],
      [{ state: "sending" }, `The service stored ${words} as command c7. Its outcome is not known yet`],
    ];
    for (const [facts, sentence] of cases) {
      assert.ok(outcomeInWords({ ...receipt, ...facts }).startsWith(sentence), sentence);
    }
  });

  it("name what happened to a thing and to its commands, and send no control codes", () => {
    const style = new Proxy({}, { get: () => (text: string) => text }) as never;
    const fields = { "smoke.state": { value: "alarm" }, "smoke.word": { value: "\u001b[2J" } };
    const thing = { deviceId: 1, thingId: "t_1", what: "state", fields, updateTime: 1, cause: { by: "ecosystem" } };
    const shown = eventInWords("thing", thing, style);
    assert.match(shown, / thing +t_1 {2}smoke\.state = alarm, smoke\.word = \ufffd\[2J {2}the ecosystem$/);
    assert.match(
      eventInWords("thing", { ...thing, what: "gone", fields: {}, cause: undefined }, style),
      / t_1 {2}gone {2}-$/,
    );
    const error = { code: "refused", text: "no\u0007" };
    const command = { ...receipt, state: "rejected", error, time: 1 };
    assert.match(
      eventInWords("thingCommand", command, style),
      / thingCommand {2}t_1 {2}c7 thermostat setTarget celsius=20\.5: rejected, no\ufffd$/,
    );
  });
});
