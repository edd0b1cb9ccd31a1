import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Thing } from "../../sdk/src/index.ts";
import { conditionOf, thingView } from "../../src/cli/things/thing-view.ts";
import { clientOfUser } from "../stories/v3-client.ts";
import { eventually, person, world } from "../stories/world.ts";
import { startCommand } from "./long-running-command.ts";
import { type CommandContext, typed } from "./typed.ts";

/** A linked home, and a command line on the machine of its service. */
async function home(t: TestContext) {
  const story = await world(t, { structures: [{ name: "Maple Street", thermostats: 1, alarms: 1 }] });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
  const environment = { BREEZEWAY_DATA: story.config.dataFolder, NO_COLOR: "1" };
  const at = (args: readonly string[], context: CommandContext = {}) => typed(args, { ...context, environment });
  const listed = async (...options: string[]): Promise<readonly Thing[]> =>
    (await at(["thing", "list", ...options])).json.things;
  const play = (scene: string) => story.simulator.playScene(story.accountId, { scene });
  return { story, environment, at, listed, play };
}

describe("the commands about things", () => {
  it("list the things of a home, by kind, room and source", async (t) => {
    const { at, listed, story } = await home(t);
    assert.deepEqual((await listed()).map(({ kind }) => kind).toSorted(), ["alarm", "home", "thermostat"]);
    const [alarm] = await listed("--kind", "alarm", "--source", "nest");
    assert.equal(alarm?.kind, "alarm");
    assert.deepEqual(await listed("--room", "no such room"), []);
    assert.equal((await listed("--user", String(story.userId))).length, 3);
    const shown = await at(["things", "list"], { columns: 160 });
    assert.match(shown.out, /^THING +KIND +NAME +ROOM +HOME +SOURCE +CONDITION\n/);
    assert.match(shown.out, new RegExp(`\\n${alarm!.thingId} +alarm .* Maple Street +nest +current\\n`));
    const none = await at(["thing", "list", "--room", "no such room"], { columns: 160 });
    assert.match(none.out, /^There are no such things\./);
    const wrong = await at(["thing", "list", "--kind", "alarms"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--kind must be one of: thermostat, alarm, fan, /);
  });

  it("add, list, explain, try and remove alerts on things", async (t) => {
    const { at, listed } = await home(t);
    const [alarm] = await listed("--kind", "alarm");
    const { thingId } = alarm!;
    const definition = ["--thing", thingId, "--field", "smoke.state", "--value", "alarm", "--action", "notify"];
    const added = await at(["alert", "add", ...definition], { columns: 120 });
    const words = new RegExp(`When thing ${thingId} › smoke\\.state equals "alarm", tell "notify"\\.`);
    assert.match(added.out, words);
    assert.deepEqual((await at(["alert", "list"])).json.alerts, []);
    const [alert, ...more] = (await at(["alert", "list", "--things"])).json.alerts;
    assert.deepEqual([alert.thingId, alert.field, more], [thingId, "smoke.state", []]);
    assert.deepEqual((await at(["alert", "list", "--thing", thingId])).json.alerts, [alert]);
    const id = String(alert.alertId);
    assert.match((await at(["alert", "show", id], { columns: 120 })).out, words);
    assert.equal((await at(["alert", "disable", id])).json.enable, false);
    assert.equal((await at(["alert", "enable", id])).json.field, "smoke.state");
    assert.match((await at(["alert", "explain", id], { columns: 120 })).out, /The field is "clear" now/);
    const tried = await at(["alert", "dry-run", ...definition, "--from", "1h"]);
    assert.deepEqual(tried.json, { events: 1, firings: [] });
    assert.equal((await at(["alert", "remove", id])).code, 0);
    assert.deepEqual((await at(["alert", "list", "--things"])).json.alerts, []);
    const absent = await at(["alert", "add", ...definition, "--thing", "t_none"]);
    assert.equal(absent.code, 5);
    assert.match(absent.err, /There is no thing t_none\. Nothing was changed\. See all with: breezeway thing list\n$/);
    for (const wrong of [[], ["--device", "1", "--attribute", "power", "--thing", thingId]]) {
      const refused = await at(["alert", "add", ...wrong, "--value", "on", "--action", "notify"]);
      assert.equal(refused.code, 2);
      assert.match(refused.err, /--device 1 --attribute power, or --thing t_… --field smoke\.state\./);
    }
  });

  it("show a thing with its traits, and say that it is stale, unavailable or gone", async (t) => {
    const { at, listed, play, story } = await home(t);
    const [alarm] = await listed("--kind", "alarm");
    const get = (...options: string[]) => at(["thing", "get", alarm!.thingId, ...options], { columns: 100 });
    assert.match(
      (await get()).out,
      / · current · confirmed \d+ s ago\nt_\S+\n[\s\S]*\nsmoke\n[\s\S]*\n {2}state +clear /,
    );
    const json = (await at(["thing", "show", alarm!.thingId])).json;
    assert.equal(json.traits.smoke.state.state.value, "clear");
    await play("alarm-offline");
    await eventually(t.signal, async () => {
      assert.match((await get()).out, /\nsmoke {2}unavailable: last known values\n/);
    });
    const offline = (await at(["thing", "get", alarm!.thingId])).json;
    await play("smoke");
    await eventually(t.signal, async () => assert.match((await get()).out, /\n {2}state +alarm /));
    const recent = (await get("--since", String(latestOf(offline)))).out;
    assert.match(recent, /\nsmoke {2}unavailable/, "also when only the state changed in that time");
    const history = (...options: string[]) => at(["thing", "history", alarm!.thingId, ...options], { columns: 100 });
    const smoke = (await history("--field", "smoke.state")).out;
    assert.match(
      smoke,
      /^TIME +WHAT +FIELDS +BY\n.* added +.*smoke\.state = clear.*\n.* state +.*smoke\.state = alarm.* +the ecosystem\n$/,
    );
    assert.equal((await history("--field", "smoke.state", "--limit", "1")).out.split("\n").length, 3);
    assert.match(
      (await history("--from", "1970-01-01T00:00Z", "--to", "1970-01-02T00:00Z")).out,
      /^Nothing has changed/,
    );
    await play("remove-alarm");
    await eventually(t.signal, async () => assert.match((await get()).out, / · gone since \d{4}-\S+Z/));
    assert.doesNotMatch((await get()).out, /current/);
    const absent = await at(["thing", "get", "t_none"]);
    assert.equal(absent.code, 5);
    assert.match(absent.err, /There is no thing t_none\. See all with: breezeway thing list\n$/);

    story.simulator.endAccess(story.accountId);
    story.simulator.drop(story.accountId);
    await eventually(t.signal, async () => {
      assert.match((await at(["thing", "list"], { columns: 200 })).out, / thermostat .* stale, as of \d\d:\d\d:\d\d\n/);
    });
  });

  it("show the changes of a thing until it is gone", { timeout: 60_000 }, async (t) => {
    const { environment, listed, play } = await home(t);
    const [alarm] = await listed("--kind", "alarm");
    const { next, ended } = startCommand(t, ["thing", "watch", alarm!.thingId], environment);
    const first = await next();
    assert.deepEqual([first.type, first.thingId], ["thing", alarm!.thingId]);
    const changed = async (trait: string, field: string) => {
      for (;;) {
        const line = await next();
        if (line.type !== "field" || (line.trait === trait && line.field === field)) return line;
      }
    };
    await play("smoke");
    const { type, value, updateTime } = await changed("smoke", "state");
    assert.deepEqual([type, value], ["field", "alarm"]);
    assert.ok(updateTime > first.traits.smoke.state.state.updateTime);
    await play("remove-alarm");
    const gone = await changed("none", "none");
    assert.deepEqual([gone.type, gone.stale, typeof gone.goneTime], ["freshness", true, "number"]);
    assert.deepEqual(await ended, { code: 0, signal: null, err: "The thing is gone.\n" });
  });

  it("take an address and a token", async (t) => {
    const { story } = await home(t);
    const { accessToken } = await clientOfUser(() => story.service, "Story", person);
    const environment = { BREEZEWAY_TOKEN: accessToken, BREEZEWAY_DATA: "/nowhere" };
    const { json } = await typed(["thing", "list", "--url", story.service.baseUrl], { environment });
    assert.equal(json.things.length, 3);
  });
});

describe("the condition of a thing", () => {
  const field = (value: string | boolean | null) => ({ value, updateTime: 1 });
  const made = (smoke: Record<string, ReturnType<typeof field>>, facts: Partial<Thing> = {}): Thing => ({
    ...{ thingId: "t_1", deviceId: 1, kind: "alarm", name: null, room: null, homeName: null, maker: null, model: null },
    ...{ source: "nest", stale: false, confirmedTime: 1, goneTime: undefined },
    traits: { smoke: { capabilities: {}, state: smoke } },
    ...facts,
  });

  it("is current only if everything is known", () => {
    const fine = { available: field(true), state: field("clear") };
    assert.equal(conditionOf(made(fine)), "current");
    const cases: readonly (readonly [Thing, RegExp])[] = [
      [made(fine, { stale: true }), /^stale, as of \d\d:\d\d:\d\d$/],
      [made(fine, { stale: true, confirmedTime: undefined }), /^stale$/],
      [made(fine, { stale: true, goneTime: 0 }), /^gone since 1970-01-01T00:00:00.000Z$/],
      [made({ ...fine, available: field(false) }), /^smoke unavailable: last known values$/],
      [made({ ...fine, available: field(null) }), /^smoke availability unknown$/],
      [made({ ...fine, state: field("unknown") }), /^smoke unknown$/],
      [made({ ...fine, state: field("alarm") }, { stale: true }), /^stale, .*, smoke alarm$/],
    ];
    for (const [thing, words] of cases) assert.match(conditionOf(thing), words);
  });

  it("is never green on a terminal while the values may be out of date, and text from outside sends no control codes", () => {
    const paint = (colour: string) => (text: string) => `<${colour}>${text}`;
    const style = Object.fromEntries(["bold", "dim", "red", "green", "yellow", "cyan"].map((one) => [one, paint(one)]));
    const view = { style: style as never, width: 200, nowMs: 1 };
    const fine = { available: field(true), state: field(null), word: field("a\u001b[2J") };
    assert.match(thingView(made(fine), view), /<green>current/);
    assert.match(thingView(made(fine), view), /state +\(unknown\)/);
    const stale = thingView(made(fine, { stale: true, name: "\u001b[2J" }), view);
    assert.ok(!stale.includes("<green>") && !stale.includes("\u001b"), stale);
    assert.match(stale, /<yellow>stale/);
  });
});

/** The latest time of the thing's fields. */
function latestOf(json: {
  readonly traits: Record<string, { readonly state: Record<string, { updateTime: number }> }>;
}) {
  const fields = Object.values(json.traits).flatMap(({ state }) => Object.values(state));
  return Math.max(...fields.map(({ updateTime }) => updateTime));
}
