import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runSimulator } from "../../simulator/main.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { first, movedClock, simulatorWorld } from "./world.ts";

describe("the simulator", () => {
  it("reports that its port is taken", async (t) => {
    const { simulator } = await simulatorWorld(t);
    await assert.rejects(startSimulator({ port: simulator.port }), { code: "EADDRINUSE", message: /already taken/ });
  });

  it("ends its streams and closes its port when it stops", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    await world.simulator.stop();
    assert.equal(await stream.over, "ended");
    await assert.rejects(fetch(world.simulator.url));
    await world.simulator.stop();
  });

  it("runs until it is stopped", async () => {
    const controller = new AbortController();
    const lines: string[] = [];
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    const run = runSimulator({ port: 0 }, controller.signal, (line) => {
      lines.push(line);
      resolve();
    });
    await listening;
    const url = lines[0]!.replace("simulator listening on ", "");
    assert.equal((await fetch(`${url}/simulator`)).status, 200);
    controller.abort();
    await run;
    assert.match(lines[1]!, /^ready for client_id \S+, client_secret \S+$/);
    assert.equal(lines.length, 2);
  });

  it("offers its functions in process as over HTTP", async (t) => {
    const { simulator, call } = await simulatorWorld(t);
    const { accountId, token } = simulator.addAccount({ structures: [{ name: "Mill" }] });
    assert.equal((await call("GET", "/metadata", undefined, token)).status, 200);
    await simulator.playScene(accountId, { scene: "leave" });
    assert.equal(simulator.revision(accountId), 2);
    await assert.rejects(simulator.playScene(accountId, { scene: "none" }), { code: "unknown_scene" });
    const another = simulator.issueToken(accountId);
    assert.deepEqual([simulator.revokeToken(another), simulator.revokeToken(another)], [true, false]);
    simulator.replaceDocument(accountId, { odd: true });
    assert.deepEqual(simulator.document(accountId), { odd: true });
    assert.throws(() => simulator.document("nobody"), { code: "not_found" });
  });
});

describe("a fan", () => {
  it("runs out at its timeout, once", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const { body } = await account.scene("fan-on");
    clock.move(15 * 60_000 - 1);
    await account.scene("drift");
    assert.equal((await account.document()).devices.thermostats[body.thermostat].fan_timer_active, true);
    clock.move(1);
    const stopped = (await account.document()).devices.thermostats[body.thermostat];
    assert.deepEqual([stopped.fan_timer_active, stopped.fan_timer_timeout], [false, "1970-01-01T00:00:00.000Z"]);
    assert.deepEqual([world.simulator.revision(account.accountId), clock.waiting()], [4, 0]);
  });

  it("runs longer when it is started again, and not at all when it is stopped", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const account = await (await simulatorWorld(t, clock)).account();
    await account.scene("fan-on", { thermostat: 1 });
    await account.scene("fan-on", { thermostat: 2 });
    clock.move(10 * 60_000);
    await account.scene("fan-on", { thermostat: 1 });
    await account.scene("fan-off", { thermostat: 2 });
    clock.move(10 * 60_000);
    assert.equal(first((await account.document()).devices.thermostats).fan_timer_active, true);
    clock.move(5 * 60_000);
    assert.equal(first((await account.document()).devices.thermostats).fan_timer_active, false);
    assert.equal(clock.waiting(), 0);
  });

  it("is not stopped in a replaced document whose timeout is over or far away", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const account = await (await simulatorWorld(t, clock)).account();
    for (const timeout of ["2020-01-01T00:00:00.000Z", "soon", null, "9999-01-01T00:00:00.000Z"]) {
      const document = await account.document();
      const thermostat = first(document.devices.thermostats);
      Object.assign(thermostat, { fan_timer_active: true, fan_timer_timeout: timeout });
      await account.replace(document);
      clock.move(40 * 86_400_000);
      assert.deepEqual(await account.document(), document);
    }
  });
});

describe("everyday life", () => {
  it("continues in an account until it is stopped, the same for the same seed", async (t) => {
    const live = async () => {
      const clock = movedClock(Date.UTC(2026, 0, 1));
      const { simulator } = await simulatorWorld(t, clock);
      const { accountId } = simulator.addAccount({ seed: "life" });
      const end = simulator.startLife(accountId, { everyMs: 60_000 });
      clock.move(8 * 3_600_000);
      end();
      const { metadata: _, ...lived } = simulator.document(accountId);
      const revision = simulator.revision(accountId);
      clock.move(3_600_000);
      return { lived, revision, revisionLater: simulator.revision(accountId) };
    };
    const [one, two] = [await live(), await live()];
    assert.deepEqual(one, two);
    assert.ok(one.revision > 480);
    assert.ok(one.revisionLater - one.revision <= 2, "only fans that still ran may have stopped");
  });

  it("plays leaving, coming home, fans and lost connections, and skips a step when nothing can change", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const stream = await account.stream();
    world.simulator.startLife(account.accountId, { everyMs: 60_000 });
    const seen = new Set<string>();
    for (let minute = 0; minute < 400; minute++) {
      clock.move(60_000);
      const { structures, devices } = await account.document();
      seen.add(first(structures).away);
      if (JSON.stringify(devices).includes('"fan_timer_active":true')) seen.add("fan");
      if (JSON.stringify(devices).includes('"is_online":false')) seen.add("offline");
    }
    assert.deepEqual([...seen].sort(), ["auto-away", "away", "fan", "home", "offline"]);
    assert.equal((await stream.next()).event, "put");
    await account.replace({ structures: 5 });
    const revision = world.simulator.revision(account.accountId);
    clock.move(600_000);
    assert.equal(world.simulator.revision(account.accountId), revision);
  });

  it("pauses for a while after a user's action", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const { simulator } = await simulatorWorld(t, clock);
    const { accountId } = simulator.addAccount();
    simulator.startLife(accountId, { everyMs: 10_000, restMs: 60_000 });
    clock.move(10_000);
    await simulator.playScene(accountId, { scene: "leave" });
    const revision = simulator.revision(accountId);
    clock.move(59_999);
    assert.equal(simulator.revision(accountId), revision);
    clock.move(1);
    assert.equal(simulator.revision(accountId), revision + 1);
  });
});

describe("the simulator's state file", () => {
  it("keeps clients, tokens and their permissions over a restart", async (t) => {
    const stateFile = newStateFile();
    const one = await startSimulator({ port: 0, stateFile });
    const { accountId } = one.addAccount();
    const client = one.registerClient({ name: "Alarms", permissions: ["smoke-co-alarm:read"] });
    const token = one.issueToken(accountId, client.clientId);
    await one.stop();
    const { simulator, call } = await simulatorWorld(t, { stateFile });
    const { body } = await call("GET", "/devices", undefined, token);
    assert.deepEqual(Object.keys(body), ["smoke_co_alarms"]);
    const query = new URLSearchParams({ client_id: client.clientId, client_secret: client.clientSecret });
    query.append("grant_type", "authorization_code");
    query.append("code", simulator.issueCode(accountId, client.clientId));
    assert.equal((await call("POST", `/oauth2/access_token?${query}`)).status, 200);
  });

  it("can be one of an earlier version", async (t) => {
    const stateFile = newStateFile();
    const one = await startSimulator({ port: 0, stateFile });
    const { token } = one.addAccount();
    await one.stop();
    const { clients: _, tokens, ...rest } = JSON.parse(readFileSync(stateFile, "utf8"));
    const earlier = tokens.map((kept: string[]) => kept.slice(0, 2));
    writeFileSync(stateFile, JSON.stringify({ ...rest, tokens: earlier }));
    const { call } = await simulatorWorld(t, { stateFile });
    assert.equal((await call("GET", "/structures", undefined, token)).status, 200);
  });
});

/** A temporary state file, removed after the test. */
function newStateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "simulator-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state.json");
}
