import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { SecondLook } from "../../src/federation/second-look.ts";
import type { Home } from "../../src/home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { alarm, homeWith, incomplete, structure } from "../home/home-parts.ts";
import { home } from "./made-homes.ts";
import { flushPromises, type ManualRuntime, manualRuntime } from "./manual-runtime.ts";
import { ScriptedConnector } from "./scripted-connector.ts";

const minuteMs = 60_000;

describe("a second look", () => {
  let runtime: ManualRuntime;
  let connector: ScriptedConnector;
  let seen: { readonly account: Home; readonly purpose: string }[];
  let refusals: number;
  let faults: unknown[];
  let stopping: AbortController;
  let look: SecondLook;

  beforeEach(() => begin(0.5));

  function begin(chance: number): void {
    runtime = manualRuntime({ random: () => chance });
    connector = new ScriptedConnector();
    seen = [];
    refusals = 0;
    faults = [];
    stopping = new AbortController();
    look = new SecondLook({
      connector,
      token: () => "c.token",
      runtime,
      received: (account, purpose) => void seen.push({ account, purpose }),
      refused: () => void refusals++,
      failed: (error) => void faults.push(error),
      signal: stopping.signal,
    });
  }

  /** Lets time pass until the next read is requested; returns how long that took. */
  async function untilNextRead(atMostMs = 20 * minuteMs): Promise<number> {
    const [before, sinceMs] = [connector.reads.length, runtime.elapsedMs()];
    while (connector.reads.length === before) {
      assert.ok(runtime.elapsedMs() - sinceMs < atMostMs, "nothing was read");
      await runtime.advance(100);
    }
    return runtime.elapsedMs() - sinceMs;
  }

  async function answer(account: Home): Promise<void> {
    connector.lastRead.resolve(account);
    await flushPromises();
  }

  async function fail(error: Error): Promise<void> {
    connector.lastRead.reject(error);
    await flushPromises();
  }

  it("is taken ten minutes after the last snapshot, and again after another ten", async () => {
    look.streamSent(home());
    assert.equal(await untilNextRead(), 10 * minuteMs);
    const account = home({ away: "away" });
    await answer(account);
    assert.deepEqual(seen, [{ account, purpose: "checks" }]);
    assert.equal(await untilNextRead(), 10 * minuteMs);
  });

  for (const [chance, ms] of [
    [0, 9 * minuteMs],
    [0.999_999, 11 * minuteMs],
  ] as const) {
    it(`comes after ${ms / minuteMs} minutes by jitter, so that not all come at once`, async () => {
      begin(chance);
      look.streamSent(home());
      await runtime.advance(ms - 1_000);
      assert.equal(connector.reads.length, 0);
      await runtime.advance(1_000);
      assert.equal(connector.reads.length, 1);
    });
  }

  it("of an incomplete snapshot comes after its jitter to the millisecond, however long the node has run", async () => {
    begin(0.3);
    await runtime.advance(60 * minuteMs);
    look.streamSent(home({ incomplete: 1 }));
    await runtime.advance(1_919);
    assert.equal(connector.reads.length, 0);
    await runtime.advance(1);
    assert.equal(connector.reads.length, 1);
  });

  it("is postponed by everything that the stream sends, repeated accounts too", async () => {
    look.streamSent(home());
    for (let i = 0; i < 10; i++) {
      await runtime.advance(6 * minuteMs);
      look.streamSent(i % 2 === 0 ? home() : undefined);
    }
    assert.equal(connector.reads.length, 0);
    assert.equal(await untilNextRead(), 10 * minuteMs);
  });

  it("costs a stream that sends all the time one timer in ten minutes", async (t) => {
    const timers = t.mock.method(runtime, "after");
    for (let i = 0; i <= 1_000; i++) {
      look.streamSent(home());
      await runtime.advance(500);
    }
    assert.equal(timers.mock.callCount(), 1);
    assert.equal(await untilNextRead(), 10 * minuteMs - 500);
    assert.ok(timers.mock.callCount() <= 4);
  });

  it("is taken soon after an incomplete snapshot of a stream that sends all the time", async () => {
    for (let i = 0; i < 100; i++) {
      look.streamSent(home());
      await runtime.advance(900);
    }
    look.streamSent(home({ incomplete: 1 }));
    assert.equal(await untilNextRead(), 2_000);
  });

  it("is taken soon after an incomplete snapshot, and with growing pauses while it stays so, at most ten minutes", async () => {
    look.streamSent(home({ incomplete: 1 }));
    const delays: number[] = [];
    for (let i = 0; i < 11; i++) {
      delays.push(await untilNextRead());
      await answer(home({ incomplete: 1 }));
    }
    assert.deepEqual(delays.slice(0, 4), [2_000, 4_000, 8_000, 16_000]);
    assert.deepEqual(delays.slice(-2), [10 * minuteMs, 10 * minuteMs]);
    assert.ok(seen.every(({ purpose }) => purpose === "completes"));
  });

  it("is not postponed by an account that stays incomplete and sends all the time", async () => {
    look.streamSent(home({ incomplete: 1 }));
    for (let i = 0; i < 5; i++) {
      await runtime.advance(500);
      look.streamSent(i % 2 === 0 ? home({ incomplete: 1 }) : undefined);
    }
    assert.equal(connector.reads.length, 1);
  });

  it("is used though the stream sends incomplete snapshots meanwhile, for what they leave out", async () => {
    const structures = { s1: structure() };
    const account = (alarms: NonNullable<Parameters<typeof homeWith>[0]>["alarms"] & object, count: number) => {
      const made = homeWith({ structures, alarms });
      return { ...made, oddities: { ...made.oddities, incomplete: count } };
    };
    const alarmInEmergency = alarm("s1", { smokeAlarmState: "emergency" });
    const delays: number[] = [];
    look.streamSent(account({ a1: alarm("s1"), a2: incomplete(), a3: incomplete() }, 2));
    for (let i = 0; i < 3; i++) {
      delays.push(await untilNextRead());
      // Alarms a1 and a2 are each complete in one of these two snapshots; both are newer than the read.
      look.streamSent(account({ a1: alarmInEmergency, a2: incomplete(), a3: incomplete() }, 2));
      await runtime.advance(3_000);
      look.streamSent(account({ a1: incomplete(), a2: alarm("s1"), a3: incomplete() }, 2));
      await runtime.advance(2_000);
      await answer(account({ a1: alarm("s1"), a2: alarmInEmergency, a3: alarmInEmergency }, 0));
      assert.equal(seen.length, i + 1);
      const { account: merged, purpose } = seen.at(-1)!;
      assert.equal(purpose, "completes");
      assert.deepEqual(
        merged.alarms.byId,
        new Map([
          ["a1", alarmInEmergency],
          ["a2", alarm("s1")],
          ["a3", alarmInEmergency],
        ]),
      );
      look.streamSent(account({ a1: alarmInEmergency, a2: incomplete(), a3: incomplete() }, 2));
    }
    assert.deepEqual(delays, [2_000, 4_000, 8_000]);
    // What was sent before a read began is not newer than the read.
    await untilNextRead();
    await answer(account({ a1: alarm("s1"), a2: alarm("s1"), a3: alarm("s1") }, 0));
    assert.deepEqual(seen.at(-1)!.account.alarms.byId.get("a1"), alarm("s1"));
  });

  it("is followed by another one when the stream sent an incomplete snapshot meanwhile, and sends nothing more", async () => {
    const delays: number[] = [];
    look.streamSent(home({ incomplete: 1 }));
    for (let i = 0; i < 7; i++) {
      delays.push(await untilNextRead());
      // The incomplete snapshot announces a change, perhaps of the object that it leaves out: the read may be older.
      look.streamSent(home({ incomplete: 1 }));
      await answer(home());
      assert.equal(seen.length, i + 1, "the account is shown as far as it is known");
    }
    assert.deepEqual(delays, [2_000, 4_000, 8_000, 16_000, 32_000, minuteMs, minuteMs]);
    assert.equal(await untilNextRead(), minuteMs);
    await answer(home({ smoke: "emergency" }));
    assert.ok(seen.every(({ purpose }) => purpose === "completes"));
    assert.equal(await untilNextRead(), 10 * minuteMs);
    await answer(home());
    assert.equal(seen.at(-1)?.purpose, "checks");
  });

  it("still counts for the back-off when a repeated account outdates it", async () => {
    look.streamSent(home());
    look.requestAccount();
    const delays: number[] = [];
    for (let i = 0; i < 3; i++) {
      delays.push(await untilNextRead());
      look.streamSent(undefined);
      await answer(home({ away: "away" }));
    }
    assert.deepEqual(delays, [2_000, 4_000, 8_000]);
    assert.deepEqual(seen, []);
  });

  it("that completes an incomplete snapshot is followed by a check in ten minutes", async () => {
    look.streamSent(home({ incomplete: 1 }));
    await untilNextRead();
    await answer(home());
    assert.equal(seen.at(-1)?.purpose, "completes");
    assert.equal(await untilNextRead(), 10 * minuteMs);
    await answer(home());
    assert.equal(seen.at(-1)?.purpose, "checks");
  });

  it("is taken soon after each incomplete snapshot of a stream that sends few, though a read showed the whole account", async () => {
    for (let i = 0; i < 10; i++) {
      look.streamSent(home({ incomplete: 1 }));
      assert.equal(await untilNextRead(), 2_000);
      await answer(home());
      await runtime.advance(minuteMs);
    }
    assert.ok(seen.every(({ purpose }) => purpose === "completes"));
  });

  it("is taken with growing pauses while the stream keeps sending incomplete snapshots, at most a minute", async () => {
    const delays: number[] = [];
    look.streamSent(home({ incomplete: 1 }));
    for (let i = 0; i < 8; i++) {
      delays.push(await untilNextRead());
      await answer(home());
      look.streamSent(home({ incomplete: 1 }));
    }
    assert.deepEqual(delays, [2_000, 4_000, 8_000, 16_000, 32_000, minuteMs, minuteMs, minuteMs]);
    look.streamSent(home());
    look.streamSent(home({ incomplete: 1 }));
    assert.equal(await untilNextRead(), 2_000);
  });

  it("is taken soon after the stream has sent a part, and with growing pauses while it sends nothing but parts", async () => {
    look.streamSent(home());
    const delays: number[] = [];
    for (let i = 0; i < 4; i++) {
      look.requestAccount();
      look.requestAccount();
      delays.push(await untilNextRead());
      await answer(home());
    }
    assert.deepEqual(delays, [2_000, 4_000, 8_000, 16_000]);
    assert.ok(seen.length === 4 && seen.every(({ purpose }) => purpose === "completes"));
    assert.equal(await untilNextRead(), 10 * minuteMs);
  });

  it("is taken again when another part came during the read, but not when a whole account followed", async () => {
    look.requestAccount();
    await untilNextRead();
    look.requestAccount();
    await answer(home());
    assert.equal(seen.length, 1);
    assert.equal(await untilNextRead(), 4_000);
    look.requestAccount();
    look.streamSent(home());
    assert.equal(await untilNextRead(), 10 * minuteMs);
  });

  it("begins soon again when the account had been complete in between", async () => {
    for (const incomplete of [1, 1, 1, 0, 1]) look.streamSent(home({ incomplete }));
    assert.equal(await untilNextRead(), 2_000);
  });

  it("is dropped when the stream has sent something newer meanwhile", async () => {
    look.streamSent(home());
    await untilNextRead();
    look.streamSent(home({ smoke: "emergency" }));
    await answer(home());
    assert.deepEqual(seen, []);
    assert.equal(await untilNextRead(), 10 * minuteMs);
  });

  it("is dropped too when the stream has sent the same account again meanwhile", async () => {
    look.streamSent(home());
    await untilNextRead();
    look.streamSent(undefined);
    await answer(home({ away: "away" }));
    assert.deepEqual(seen, []);
  });

  it("that is refused is reported, and no other is taken", async () => {
    look.streamSent(home());
    await untilNextRead();
    await fail(new EcosystemRefused("The token isn't good."));
    assert.equal(refusals, 1);
    await runtime.advance(60 * minuteMs);
    assert.equal(connector.reads.length, 1);
  });

  it("whose refusal is older than the stream's last account is not reported", async () => {
    look.streamSent(home());
    await untilNextRead();
    look.streamSent(home());
    await fail(new EcosystemRefused("The token isn't good."));
    assert.equal(refusals, 0);
  });

  it("that can't reach the ecosystem is tried again in about a minute, for the same purpose", async () => {
    look.streamSent(home({ incomplete: 1 }));
    await untilNextRead();
    await fail(new EcosystemUnreachable("No answer."));
    const ms = await untilNextRead();
    assert.ok(ms >= 54_000 && ms <= 66_000, `after ${ms} ms`);
    await answer(home());
    assert.deepEqual(
      seen.map(({ purpose }) => purpose),
      ["completes"],
    );
    assert.equal(refusals, 0);
  });

  it("that fails with an internal error is a fault of the link, not an unreachable ecosystem", async () => {
    const mistake = new TypeError("oh");
    look.streamSent(home());
    await untilNextRead();
    await fail(mistake);
    assert.deepEqual(faults, [mistake]);
  });

  it("whose account can't be processed is a fault of the link", async () => {
    const mistake = new TypeError("oh");
    const throwMistake = () => {
      throw mistake;
    };
    const failed = (error: unknown) => void faults.push(error);
    const { signal } = stopping;
    look = new SecondLook({
      connector,
      token: () => "c.token",
      runtime,
      received: throwMistake,
      refused: () => {},
      failed,
      signal,
    });
    look.streamSent(home());
    await untilNextRead();
    await answer(home());
    assert.deepEqual(faults, [mistake]);
  });

  it("that is never answered ends after three minutes as unanswered, and is tried again", async () => {
    look.streamSent(home());
    await untilNextRead();
    const ms = await untilNextRead();
    assert.ok(ms > 3 * minuteMs && ms < 5 * minuteMs, `after ${ms} ms`);
    await answer(home());
    assert.equal(seen.length, 1);
  });

  it("is not taken while there is no stream", async () => {
    look.streamSent(home());
    look.streamEnded();
    assert.equal(runtime.timers, 0);
    await runtime.advance(60 * minuteMs);
    assert.equal(connector.reads.length, 0);
  });

  it("that was running when the stream ended is dropped, whatever its result", async () => {
    for (const end of [() => answer(home()), () => fail(new EcosystemRefused("no")), () => fail(new Error("oh"))]) {
      begin(0.5);
      look.streamSent(home());
      await untilNextRead();
      look.streamEnded();
      await end();
      await runtime.advance(60 * minuteMs);
      assert.deepEqual([seen.length, refusals, connector.reads.length], [0, 0, 1]);
    }
  });

  it("that was running when the follower was stopped is dropped", async () => {
    look.streamSent(home());
    await untilNextRead();
    stopping.abort();
    await answer(home());
    assert.deepEqual([seen.length, runtime.timers], [0, 0]);
  });
});
