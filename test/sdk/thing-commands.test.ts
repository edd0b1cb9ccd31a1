import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Breezeway,
  type CommandError,
  type CommandReceipt,
  type CommandState,
  Forbidden,
  InvalidArgument,
  InvalidRequest,
  NotFound,
  NotSignedIn,
  OAuthClient,
  type ThingCommands,
  TokenKeeper,
} from "../../sdk/src/index.ts";
import type { CommandError as KnownError } from "../../src/home/command-errors.ts";
import type { Command } from "../../src/home/command-plan.ts";
import type { CommandState as KnownState } from "../../src/home/command-states.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { clientOfUser } from "../stories/v3-client.ts";
import { person } from "../stories/world.ts";
import { json, RememberedTokens, type SdkWorld, scripted, sdkWorld, thrownBy } from "./sdk-world.ts";

/** Compares types. The compiler refuses `true` when they differ. */
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
/** Trait, command and the name of a parameter, such as `thermostat.setMode.mode`. */
type KnownParameters = Command extends infer One
  ? One extends { trait: infer T extends string; command: infer C extends string; params: infer P }
    ? `${T}.${C}` | `${T}.${C}.${keyof P & string}`
    : never
  : never;
type NamesIn<Params> = Params extends Readonly<Record<string, never>> ? never : keyof Params & string;
type TypedParameters = {
  [T in keyof ThingCommands & string]: {
    [C in keyof ThingCommands[T] & string]:
      | `${T}.${C}`
      | (ThingCommands[T][C] extends infer P ? (P extends object ? `${T}.${C}.${NamesIn<P>}` : never) : never);
  }[keyof ThingCommands[T] & string];
}[keyof ThingCommands & string];
const commandsAreThoseOfTheCatalogue: Same<TypedParameters, KnownParameters> = true;
const statesAreThoseOfTheService: Same<CommandState, KnownState> = true;
const errorCodesAreThoseOfTheService: Same<CommandError["code"], KnownError["code"]> = true;
const errorsAreThoseOfTheService: Same<CommandError, KnownError & { readonly text: string }> = true;
void [commandsAreThoseOfTheCatalogue, statesAreThoseOfTheService];
void [errorCodesAreThoseOfTheService, errorsAreThoseOfTheService];

const baseUrl = "https://a.example";

/** An SDK with a user's token that was granted scopes. */
async function granted({ baseUrl: at, credentials }: SdkWorld, ...scopes: string[]): Promise<Breezeway> {
  const oauth = new OAuthClient({ baseUrl: at, ...credentials, scopes });
  const authorization = await oauth.begin();
  const store = new RememberedTokens();
  store.tokens = await oauth.finish(
    await new ScriptedBrowser(() => at).authorize(authorization.url, person),
    authorization,
  );
  return new Breezeway({ baseUrl: at, accessToken: new TokenKeeper(oauth, store) });
}

/** The thermostats of a linked account, by id. */
async function thermostats(breezeway: Breezeway): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { thingId } of breezeway.things({ kind: "thermostat" })) found.push(thingId);
  return found;
}

function sent({ simulator }: SdkWorld): number {
  return simulator.log().filter(({ kind }) => kind === "command").length;
}

describe("command(), of the SDK", () => {
  it("carries a command out, waits until the thing shows it, and keeps its receipt", async (t) => {
    const world = await sdkWorld(t);
    await world.linked();
    const home = await granted(world, "devices:read", "devices:control");
    const [thingId = ""] = await thermostats(home);
    const receipt = await home.command(thingId, "thermostat", "setMode", { mode: "off" });
    assert.deepEqual([receipt.state, receipt.error, receipt.params], ["confirmed", null, { mode: "off" }]);
    assert.equal((await home.thing(thingId)).traits.thermostat?.state.mode?.value, "off");
    assert.deepEqual(await home.commandReceipt(thingId, receipt.commandId), receipt);
    const fan = await home.command(thingId, "fanTimer", "start");
    assert.equal(fan.state, "confirmed");
    assert.deepEqual(await home.commands(thingId), [fan, receipt]);
    assert.equal(sent(world), 2);
  });

  it("returns a refusal as a receipt, with a code for programs and a text for people", async (t) => {
    const world = await sdkWorld(t);
    await world.linked();
    const home = await granted(world, "devices:read", "devices:control");
    const [thingId = ""] = await thermostats(home);
    await home.command(thingId, "thermostat", "setMode", { mode: "off" });
    const off = await home.command(thingId, "thermostat", "setTarget", { celsius: 20 });
    assert.equal(off.state, "rejected");
    assert.ok(off.error?.code === "notInMode" && off.error.mode === "off", JSON.stringify(off.error));
    await home.command(thingId, "thermostat", "setMode", { mode: "heat" });
    const hot = await home.command(thingId, "thermostat", "setTarget", { celsius: 90 });
    assert.ok(hot.error?.code === "outOfRange" && hot.error.parameter === "celsius" && hot.error.max! < 90);
    assert.match(hot.error.text, /outside the range/);
    const dim = await home.command(thingId, "brightness", "set", { percent: 5 });
    assert.equal(dim.error?.code, "notSupported");
  });

  it("throws typed errors for an unknown thing, a missing scope and a wrong value", async (t) => {
    const world = await sdkWorld(t);
    await world.linked();
    const { byAccessToken } = world;
    const [thingId = ""] = await thermostats(byAccessToken);
    const mode = { mode: "off" } as const;
    const { accessToken } = await clientOfUser(() => world.story.service, "Story", person, "devices:read");
    const reader = new Breezeway({ baseUrl: world.baseUrl, accessToken });
    assert.ok((await thrownBy(reader.command(thingId, "thermostat", "setMode", mode))) instanceof Forbidden);
    assert.equal((await byAccessToken.command(thingId, "fanTimer", "start")).state, "confirmed");
    const unknown = await thrownBy(byAccessToken.command("t_none", "fanTimer", "stop"));
    assert.ok(unknown instanceof NotFound && unknown.code === "unknown_thing");
    const none = await thrownBy(byAccessToken.commandReceipt(thingId, "c999"));
    assert.ok(none instanceof NotFound && none.code === "unknown_command");
    const wrong = byAccessToken.command(thingId, "fanTimer", "start", { minutes: "5" as never });
    assert.ok((await thrownBy(wrong)) instanceof InvalidRequest);
    assert.equal(sent(world), 1);
  });
});

describe("the requests of command(), of the SDK", () => {
  const receipt = (state: CommandState): Partial<CommandReceipt> => ({ commandId: "c1", thingId: "t_1", state });
  const sdk = (fetch: typeof globalThis.fetch, retries = 2) =>
    new Breezeway({ baseUrl, accessToken: "bwa_1", fetch, retries });

  it("repeats a lost answer with the same Idempotency-Key", async () => {
    const { fetch, requests } = scripted(new Error("lost"), json(202, receipt("confirmed")));
    const done = await sdk(fetch).command("t/1", "thermostat", "adjustTarget", { deltaCelsius: 1 });
    assert.equal(done.state, "confirmed");
    const [first, second] = requests;
    assert.equal(first!.url, `${baseUrl}/v3/things/t%2F1/commands`);
    const body = { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius: 1 } };
    assert.deepEqual(JSON.parse(first!.body), body);
    assert.match(first!.headers.get("idempotency-key") ?? "", /./);
    assert.equal(second!.headers.get("idempotency-key"), first!.headers.get("idempotency-key"));
    const own = scripted(json(202, receipt("confirmed")));
    await sdk(own.fetch).command("t_1", "fanTimer", "stop", {}, { idempotencyKey: "mine" });
    assert.equal(own.requests[0]!.headers.get("idempotency-key"), "mine");
  });

  it("reads the receipt until the command has an outcome, or not at all", async () => {
    const states = (["queued", "sending", "accepted", "contradicted"] as const).map((one) => json(200, receipt(one)));
    const { fetch, requests } = scripted(json(202, receipt("queued")), ...states);
    assert.equal((await sdk(fetch).command("t_1", "fanTimer", "start")).state, "contradicted");
    assert.deepEqual(
      requests.slice(1).map(({ method, url }) => `${method} ${url}`),
      Array(4).fill(`GET ${baseUrl}/v3/things/t_1/commands/c1`),
    );
    const hasty = scripted(json(202, receipt("queued")));
    assert.equal((await sdk(hasty.fetch).command("t_1", "fanTimer", "start", {}, { waitMs: 0 })).state, "queued");
    assert.equal(hasty.requests.length, 1);
  });

  it("never reports a stored command as failed because its receipt could not be read", async () => {
    const busy = json(503, { error: "store_unavailable" });
    const restarted = scripted(json(202, receipt("queued")), busy, new Error("lost"), json(200, receipt("confirmed")));
    assert.equal((await sdk(restarted.fetch, 0).command("t_1", "fanTimer", "start")).state, "confirmed");
    const refused = scripted(json(202, receipt("queued")), json(403, { error: "insufficient_scope" }));
    assert.equal((await sdk(refused.fetch, 0).command("t_1", "fanTimer", "start")).state, "queued");
    assert.equal(refused.requests.length, 2);
  });

  it("ends the wait when the signal is aborted", async () => {
    const stop = new AbortController();
    const { fetch } = scripted(json(202, receipt("queued")), "never");
    const waiting = sdk(fetch).command("t_1", "fanTimer", "start", {}, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
  });

  it("refuses an unknown option, and a call without an access token", async () => {
    const { fetch, requests } = scripted();
    const wrong = sdk(fetch).command("t_1", "fanTimer", "start", {}, { wait: 5 } as never);
    assert.ok((await thrownBy(wrong)) instanceof InvalidArgument);
    const without = new Breezeway({ baseUrl, fetch });
    for (const call of [
      () => without.command("t_1", "fanTimer", "start"),
      () => without.commands("t_1"),
      () => without.commandReceipt("t_1", "c1"),
    ]) {
      assert.ok((await thrownBy(call())) instanceof NotSignedIn);
    }
    assert.deepEqual(requests, []);
  });
});

describe("events(), of the SDK, with things", () => {
  it("reports changes of things and of commands, only of those that were named", async (t) => {
    const world = await sdkWorld(t);
    const deviceId = await world.linked();
    const { byAccessToken } = world;
    const lampId = await world.addLamp();
    const [thingId = "", other = ""] = await thermostats(byAccessToken);
    const stop = new AbortController();
    const events = byAccessToken.events({ things: true, thingIds: [thingId], heartbeats: true, signal: stop.signal });
    assert.equal((await events.next()).value?.type, "heartbeat");
    await byAccessToken.command(other, "fanTimer", "start");
    const { commandId } = await byAccessToken.command(thingId, "fanTimer", "start");
    // The events before this one are complete.
    await byAccessToken.setDeviceAttribute(lampId, "power", "on");
    const states: string[] = [];
    let isShown = false;
    for await (const event of events) {
      if (event.type === "attribute" && event.deviceId === lampId) stop.abort();
      if (event.type !== "thing" && event.type !== "thingCommand") continue;
      assert.deepEqual([event.thingId, event.deviceId], [thingId, deviceId]);
      if (event.type === "thing") isShown ||= event.fields["fanTimer.active"]?.value === true;
      else {
        assert.deepEqual([event.commandId, event.trait, event.command], [commandId, "fanTimer", "start"]);
        states.push(event.state);
      }
    }
    assert.ok(isShown);
    assert.deepEqual([states[0], states.at(-1)], ["queued", "confirmed"]);
  });

  it("are requested only when they are wanted", async () => {
    const { fetch, requests } = scripted(json(400, { error: "invalid_request" }), json(400, {}));
    const home = new Breezeway({ baseUrl, accessToken: "bwa_1", fetch });
    await thrownBy(home.events().next());
    await thrownBy(home.events({ things: true, thingIds: ["t_1", "t_2"] }).next());
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).search),
      ["?heartbeatSeconds=2", "?things=true&thingId=t_1&thingId=t_2&heartbeatSeconds=2"],
    );
    const { webhookId, things } = { webhookId: "wh_1", things: true };
    const hooks = scripted(json(201, { webhookId, things, secret: "s" }));
    const added = await new Breezeway({ baseUrl, accessToken: "t", fetch: hooks.fetch }).webhooks.add({
      ...{ url: "https://b.example/", things: true },
    });
    assert.equal(added.things, true);
    assert.deepEqual(JSON.parse(hooks.requests[0]!.body), { url: "https://b.example/", things: true });
  });
});
