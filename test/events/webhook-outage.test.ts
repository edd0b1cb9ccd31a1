import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import { type Deployment, eventually, longSuiteOn } from "../stories/world.ts";
import { lampHouse } from "./killed-service.ts";
import { home, send, write } from "./made-home.ts";
import { type Received, receiver } from "./receiver.ts";

const minute = 60_000;
const hour = 60 * minute;
/** Longest pause between two attempts: an hour plus a fifth of jitter. */
const longestWait = 72 * minute;
const allowed = { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" };
const movedClock = new URL("../set-up/moved-clock.ts", import.meta.url);

for (const database of longSuiteOn("sqlite")) {
  describe(`the receiver of a webhook on ${database}`, () => {
    it("that was down for an hour gets everything, each device in order, under one id and freshly signed", {
      timeout: 120_000,
    }, async (t) => {
      const house = await hookedHouse(t, database);
      const { lamps, hook, secret, pass } = house;
      hook.goDown();
      for (let i = 0; i < 10; i++) for (const lamp of lamps) await house.write(lamp, i);
      await house.isTried();
      for (let i = 0; i < 12; i++) {
        await pass(5 * minute);
        await house.isTried();
      }
      const stuck = (await house.deliveries()).filter(({ attempts }) => attempts > 0);
      assert.equal(stuck.length, lamps.length, "of each device one is tried, the others wait behind it");
      for (const { attempts, text, state } of stuck) {
        assert.ok(attempts >= 5, `tried ${attempts} times`);
        assert.deepEqual([state, text], ["waiting", "the connection was refused"]);
      }

      // The receiver is up again but refuses: refused messages come again with the same id.
      hook.behaviour.answer = () => ({ status: 503 });
      await hook.comeBack();
      await pass(longestWait);
      await hook.until(lamps.length);
      await house.isTried();
      for (const one of hook.received) verify(t, secret, one, house.nowMs());
      const refused = hook.received.length;
      hook.behaviour.answer = () => ({ status: 204 });
      await pass(longestWait);
      for (const lamp of lamps) await house.write(lamp, 10);
      await eventually(t.signal, async () => assert.equal(distinctIds(hook.received).length, 11 * lamps.length));
      for (const lamp of lamps) assert.deepEqual(countsOf(hook.received, lamp), range(11));
      for (const one of hook.received.slice(refused)) verify(t, secret, one, house.nowMs());
      await eventually(t.signal, async () =>
        assert.ok((await house.deliveries()).every(({ state }) => state === "delivered")),
      );
    });

    it("that was down for longer than a day gets missed messages when they are resent", {
      timeout: 120_000,
    }, async (t) => {
      const house = await hookedHouse(t, database);
      const { lamps, hook, secret, pass } = house;
      hook.goDown();
      for (let i = 0; i < 3; i++) for (const lamp of lamps) await house.write(lamp, i);
      await house.isTried();
      for (let i = 0; i < 25; i++) {
        await pass(hour);
        await house.isTried();
      }
      const failed = await house.deliveries();
      assert.deepEqual(
        failed.map(({ state, text }) => `${state}: ${text}`),
        Array.from({ length: 3 * lamps.length }, () => "failed: the connection was refused"),
      );

      await hook.comeBack();
      for (const lamp of lamps) await house.write(lamp, 3);
      await hook.until(lamps.length);
      for (const { deliveryId, messageId } of failed.toReversed()) {
        const { status, body } = await house.call("POST", `/deliveries/${deliveryId}/resend`);
        assert.deepEqual([status, body.messageId], [202, messageId]);
      }
      await hook.until(4 * lamps.length);
      for (const lamp of lamps) assert.deepEqual(countsOf(hook.received, lamp), [3, 0, 1, 2]);
      for (const one of hook.received) verify(t, secret, one, house.nowMs());
      const ids = distinctIds(hook.received);
      assert.deepEqual(ids.slice(lamps.length).sort(), failed.map(({ messageId }) => messageId).sort());
    });
  });
}

describe("a webhook's messages when the service is killed", () => {
  it("are sent after the restart, and one that was being sent comes again with its id", {
    timeout: 120_000,
  }, async (t) => {
    const hook = await receiver(t);
    const longLived = { BREEZEWAY_ACCESS_TOKEN_SECONDS: "86400" };
    const { service, start, token, lamps } = await lampHouse(t, "sqlite", { ...allowed, ...longLived });
    const { body } = await send(`${service.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url });
    hook.goDown();
    for (let i = 0; i < 10; i++) {
      for (const lamp of lamps) await write(service, token, lamp as never, { count: `${i}` });
    }
    service.process.kill("SIGKILL");
    await service.ended;

    await hook.comeBack();
    const later = (hours: number) => ({ preload: movedClock, environment: { CLOCK_MOVED_MS: `${hours * hour}` } });
    const second = await start(later(1));
    // During the attempt, before the receiver answers.
    hook.behaviour.answer = () => {
      if (hook.received.length >= 7) second.process.kill("SIGKILL");
      return { status: 204 };
    };
    await second.ended;
    hook.behaviour.answer = () => ({ status: 204 });
    const heard = hook.received.length;
    assert.ok(heard >= 7 && heard < 10 * lamps.length);

    await start(later(2));
    await eventually(t.signal, async () => assert.equal(distinctIds(hook.received).length, 10 * lamps.length));
    assert.ok(hook.received.length > 10 * lamps.length, "what was under way came again");
    for (const lamp of lamps) assert.deepEqual(countsOf(hook.received, lamp), range(10));
    for (const [i, one] of hook.received.entries()) {
      verify(t, body.secret, one, Date.now() + (i < heard ? hour : 2 * hour));
    }
  });
});

interface ShownDelivery {
  readonly deliveryId: number;
  readonly messageId: string;
  readonly deviceId: number;
  readonly state: string;
  readonly attempts: number;
  readonly text: string | null;
  readonly nextTime: number | null;
}

/** Ada's two lamps with a webhook for them, and a clock that the test moves. */
async function hookedHouse(t: TestContext, database: Deployment) {
  const { world, token, lamp } = await home(t, { database, environment: allowed });
  const lamps = [lamp, await world.addDevice(world.userId, "Other lamp")];
  const hook = await receiver(t);
  const { body } = await send(`${world.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url });
  let passedMs = 0;
  let held = { token, atMs: 0 };
  /** Access tokens are valid for an hour. */
  const fresh = async () => {
    if (passedMs - held.atMs >= hour / 2) held = { token: (await world.tokens()).access_token, atMs: passedMs };
    return held.token;
  };
  // PostgreSQL has its own clock: there all stored times are moved back instead.
  const nowMs = () => Date.now() + (database === "sqlite" ? passedMs : 0);
  const call = async (method: string, path: string) =>
    send(`${world.baseUrl}/v3/webhooks/${body.webhookId}${path}`, await fresh(), method);
  const deliveries = async (): Promise<readonly ShownDelivery[]> => (await call("GET", "/deliveries")).body.deliveries;
  return {
    lamps,
    hook,
    secret: body.secret as string,
    nowMs,
    call,
    deliveries,
    write: async (device: (typeof lamps)[number], count: number) =>
      write(world, await fresh(), device, { count: `${count}` }),
    async pass(ms: number) {
      passedMs += ms;
      await world.timePasses(ms);
      world.service.parts.events.afterCommit(false);
    },
    /** Every due message was attempted. */
    isTried: () =>
      eventually(t.signal, async () => {
        const waiting = (await deliveries()).filter(({ nextTime }) => nextTime !== null && nextTime <= nowMs());
        assert.deepEqual(waiting, []);
        const heads = (await deliveries()).filter(({ nextTime }) => nextTime !== null);
        assert.ok(heads.every(({ text }) => text !== null));
      }),
  };
}

/** The counters in a device's messages, in order of first receipt. */
function countsOf(received: readonly Received[], deviceId: number): readonly number[] {
  const own = received.filter(({ message }) => message.data.deviceId === deviceId);
  const bodies = new Map(own.map(({ headers, message }) => [headers["webhook-id"], message]));
  for (const { headers, message } of own) assert.deepEqual(message, bodies.get(headers["webhook-id"]));
  return [...bodies.values()].map(({ data }) => Number(data.attributes.count));
}

/** The ids of all messages, each once. */
function distinctIds(received: readonly Received[]): readonly string[] {
  return [...new Set(received.map(({ headers }) => headers["webhook-id"]!))];
}

/** Verifies as the receiver would, with a clock that is moved as the service's. */
function verify(t: TestContext, secret: string, { body, headers, message }: Received, nowMs: number): void {
  t.mock.timers.enable({ apis: ["Date"], now: nowMs });
  try {
    assert.deepEqual(new Webhook(secret).verify(body, { ...headers }), message);
  } finally {
    t.mock.timers.reset();
  }
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, i) => i);
}
