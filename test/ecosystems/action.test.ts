import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { readRetryAfter } from "../../src/ecosystems/kit/retry-after.ts";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { fanAction } from "./actions.ts";
import { answerOf, redirectTo, startByteServer } from "./byte-server.ts";

const signal = new AbortController().signal;

async function home(t: TestContext, options: Parameters<typeof startSimulator>[0] = {}) {
  const simulator = await startSimulator({ port: 0, ...options });
  t.after(() => simulator.stop());
  const { accountId, token } = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
  const connector = nestConnector({ name: "nest", apiUrl: simulator.url, allowedHosts: simulator.hosts });
  const thermostatId = Object.keys((simulator.document(accountId) as never as Document).devices.thermostats)[0]!;
  return { simulator, accountId, token, connector, action: fanAction(thermostatId, true) };
}

interface Document {
  readonly devices: { readonly thermostats: Record<string, { readonly fan_timer_active: boolean }> };
}

function commands(simulator: Simulator): number {
  return simulator.log().filter(({ kind }) => kind === "command").length;
}

describe("a fan command", () => {
  it("is accepted by the cloud, also after a redirect", async (t) => {
    for (const redirect of ["off", "second-host"] as const) {
      const { simulator, token, connector, action } = await home(t, { redirect });
      assert.deepEqual(await connector.act(token, action, signal), { state: "accepted" });
      assert.equal(commands(simulator), 1);
    }
  });

  it("is refused in the ecosystem's own words", async (t) => {
    const { simulator, accountId, token, connector, action } = await home(t);
    await simulator.playScene(accountId, { scene: "leave" });
    assert.deepEqual(await connector.act(token, action, signal), {
      state: "rejected",
      message: "Cannot change fan_timer_active while structure is away",
      reason: "notHome",
    });
  });

  it("that a remembered host answers with 401 is sent to the ecosystem's own address", async (t) => {
    const former = await startByteServer(t, (socket, index) =>
      socket.end(index === 0 ? answerOf(200, "{}") : answerOf(401, "{}")),
    );
    const own = await startByteServer(t, (socket, index) =>
      socket.end(index === 0 ? redirectTo(`${former.url}/`) : answerOf(200, "{}")),
    );
    const connector = nestConnector({ name: "nest", apiUrl: own.url, allowedHosts: [former.host] });
    await connector.read("c.token", signal);
    assert.deepEqual(await connector.act("c.token", fanAction("t", true), signal), { state: "accepted" });
    assert.deepEqual([former.requests.length, own.requests.length], [2, 2]);
    assert.match(own.requests[1]!, /^PUT /);
  });

  it("that both refuse with 401 is sent to each once, and the token counts as refused", async (t) => {
    const former = await startByteServer(t, (socket, index) =>
      socket.end(index === 0 ? answerOf(200, "{}") : answerOf(401, "{}")),
    );
    const own = await startByteServer(t, (socket, index) =>
      socket.end(index === 0 ? redirectTo(`${former.url}/`) : answerOf(401, "{}")),
    );
    const connector = nestConnector({ name: "nest", apiUrl: own.url, allowedHosts: [former.host] });
    await connector.read("c.token", signal);
    assert.deepEqual(await connector.act("c.token", fanAction("t", true), signal), { state: "unauthorized" });
    assert.deepEqual([former.requests.length, own.requests.length], [2, 2]);
  });

  it("reports how long it is blocked when the ecosystem says so", async (t) => {
    const { simulator, token, connector, action } = await home(t);
    simulator.addFault({ fault: "too-many-requests", retryAfter: "seconds", seconds: 120 });
    assert.deepEqual(await connector.act(token, action, signal), {
      state: "rejected",
      message: "blocked",
      retryAfterMs: 120_000,
    });
  });

  it("is blocked for the time that the ecosystem means, however far its clock is from this one", async (t) => {
    for (const aheadMs of [-3_600_000, 3_600_000]) {
      const theirs = (ms: number) => new Date(Date.now() + aheadMs + ms).toUTCString();
      const headers = () => `Date: ${theirs(0)}\r\nRetry-After: ${theirs(120_000)}\r\n`;
      const blocking = await startByteServer(t, (socket) => socket.end(answerOf(429, "{}", headers())));
      const connector = nestConnector({ name: "nest", apiUrl: blocking.url, allowedHosts: [] });
      const outcome = await connector.act("c.token", fanAction("t", true), signal);
      const { retryAfterMs } = outcome as { readonly retryAfterMs?: number };
      // Two readings of one clock may fall into different seconds.
      assert.ok(retryAfterMs === 120_000 || retryAfterMs === 121_000, JSON.stringify(outcome));
    }
  });

  it("is sent once and is unanswered when no answer comes", async (t) => {
    const { simulator, token, connector, action } = await home(t);
    simulator.addFault({ fault: "reset-after-body" });
    assert.equal((await connector.act(token, action, signal)).state, "unanswered");
    let sent = 0;
    const silent = await startByteServer(t, (socket) => {
      sent += 1;
      socket.destroy();
    });
    const unreachable = nestConnector({ name: "nest", apiUrl: `http://${silent.host}`, allowedHosts: [] });
    assert.equal((await unreachable.act(token, action, signal)).state, "unanswered");
    assert.equal(sent, 1);
  });

  it("reports that the token is no longer valid", async (t) => {
    const { simulator, token, connector, action } = await home(t);
    simulator.revokeToken(token);
    assert.deepEqual(await connector.act(token, action, signal), { state: "unauthorized" });
  });
});

describe("a token", () => {
  it("is revoked at the ecosystem, also when it was revoked already", async (t) => {
    const { simulator, token, connector } = await home(t);
    assert.equal(await connector.revoke(token, signal), true);
    assert.equal((await fetch(simulator.url, { headers: { authorization: `Bearer ${token}` } })).status, 401);
    assert.equal(await connector.revoke(token, signal), true);
    await simulator.stop();
    assert.equal(await connector.revoke(token, signal), false);
  });
});

describe("Retry-After", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const cases: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ["120", 120_000],
    ["0", undefined],
    ["-5", undefined],
    ["soon", undefined],
    ["99999999", 3_600_000],
    [new Date(nowMs + 60_000).toUTCString(), 60_000],
    [new Date(nowMs - 60_000).toUTCString(), undefined],
  ];
  for (const [value, waitMs] of cases) {
    it(`of ${value} means ${waitMs ?? "nothing"}`, () => assert.equal(readRetryAfter(value, nowMs), waitMs));
  }
});
