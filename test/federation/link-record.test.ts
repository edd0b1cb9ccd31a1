import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { LinkRecord, type LinkStanding } from "../../src/federation/link-record.ts";
import { OwnershipLost, StoreUnavailable } from "../../src/model/errors.ts";
import type { BlindInterval } from "../../src/store/tables/blind-intervals.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { adasLink, linkRow } from "./made-links.ts";
import { flushPromises, type ManualRuntime, manualRuntime, noonMs } from "./manual-runtime.ts";

interface Written {
  readonly standing: LinkStanding;
  readonly ended: readonly BlindInterval[];
}

describe("the record of a link", () => {
  let runtime: ManualRuntime;
  let written: Written[];
  let tries: number;
  /** The error of the store's writes. */
  let failure: Error | undefined;
  let stopping: AbortController;
  let uncertaintyMs: number;
  let faults: unknown[];

  beforeEach(() => {
    runtime = manualRuntime();
    uncertaintyMs = 0;
    written = [];
    tries = 0;
    failure = undefined;
    faults = [];
    stopping = new AbortController();
  });

  function recordOf(row: Partial<LinkRow> = {}): LinkRecord {
    const write = async (standing: LinkStanding, ended: readonly BlindInterval[]) => {
      tries += 1;
      await undefined;
      if (failure) throw failure;
      written.push({ standing, ended: [...ended] });
    };
    const { signal } = stopping;
    const failed = (error: unknown) => void faults.push(error);
    const parts = { link: adasLink, write, runtime, uncertaintyMs: () => uncertaintyMs, failed, signal };
    return new LinkRecord(parts, linkRow(row));
  }

  /** A record that is live since noon, and stored. */
  async function liveRecord(): Promise<LinkRecord> {
    const record = recordOf();
    record.enter("live", "");
    await record.written();
    written.length = 0;
    tries = 0;
    return record;
  }

  it("shows the new standing at once, and writes it", async () => {
    const record = recordOf();
    record.enter("live", "");
    assert.deepEqual(record.standing, { state: "live", reason: "", blindness: null });
    await record.written();
    assert.deepEqual(
      written.map(({ standing }) => standing),
      [record.standing],
    );
  });

  it("logs one line for each change of state, and none for a new reason or the same again", async () => {
    const record = recordOf();
    record.enter("waiting", "unreachable: refused");
    record.enter("live", "");
    record.enter("live", "");
    record.enter("waiting", "closed: bye");
    record.enter("waiting", "unreachable: refused");
    record.enter("needs_reauth", "revoked");
    await record.written();
    const { userId, deviceId, ecosystem } = adasLink;
    assert.deepEqual(runtime.logLines, [
      line("live", ""),
      line("waiting", "closed: bye"),
      line("needs_reauth", "revoked"),
    ]);

    function line(state: string, reason: string) {
      return {
        level: "info",
        fields: { userId, deviceId, ecosystem, state, reason },
        sentence: `the link is ${state}`,
      };
    }
  });

  it("does not write an unchanged standing", async () => {
    const record = await liveRecord();
    record.enter("live", "");
    await record.written();
    assert.equal(tries, 0);
  });

  it("is blind from the end of a stream until it is live again, with the first cause", async () => {
    const record = await liveRecord();
    await runtime.advance(1_000);
    record.enter("waiting", "closed: bye");
    await runtime.advance(2_000);
    record.enter("waiting", "unreachable: refused");
    assert.deepEqual(record.standing.blindness, { sinceMs: noonMs + 1_000, cause: "closed: bye" });
    await runtime.advance(4_000);
    record.enter("live", "");
    assert.equal(record.standing.blindness, null);
    await record.written();
    assert.deepEqual(
      written.flatMap(({ ended }) => ended),
      [{ fromMs: noonMs + 1_000, toMs: noonMs + 7_000, cause: "closed: bye" }],
    );
  });

  it("counts the time in which nothing had been heard as blind", async () => {
    const record = await liveRecord();
    await runtime.advance(100_000);
    record.enter("waiting", "silent: nothing was heard for too long", 70_000);
    assert.equal(record.standing.blindness?.sinceMs, noonMs + 30_000);
  });

  it("records the whole interval though the clock may be behind, and no time twice", async () => {
    uncertaintyMs = 300;
    const record = recordOf({ state: "waiting", blindness: { sinceMs: noonMs - 5_000, cause: "closed: bye" } });
    record.enter("live", "");
    assert.equal(record.blindUntilMs, noonMs + 300);
    await runtime.advance(100);
    record.enter("waiting", "closed: again");
    await runtime.advance(900);
    uncertaintyMs = 20;
    record.enter("live", "");
    await runtime.advance(1_000);
    record.enter("waiting", "closed: and again");
    await record.written();
    assert.deepEqual(
      written.flatMap(({ ended }) => ended),
      [
        { fromMs: noonMs - 5_000, toMs: noonMs + 300, cause: "closed: bye" },
        { fromMs: noonMs + 300, toMs: noonMs + 1_020, cause: "closed: again" },
      ],
    );
    assert.deepEqual(record.standing.blindness, { sinceMs: noonMs + 2_000, cause: "closed: and again" });
  });

  it("records blind intervals after the clock was set back, too", async () => {
    const record = recordOf();
    record.enter("live", "");
    runtime.jump(-3_600_000);
    record.enter("waiting", "closed: bye");
    assert.equal(record.standing.blindness?.sinceMs, noonMs - 3_600_000);
  });

  it("stays blind while it needs a new token", async () => {
    const record = await liveRecord();
    record.enter("needs_reauth", "revoked");
    assert.deepEqual(record.standing.blindness, { sinceMs: noonMs, cause: "revoked" });
  });

  it("writes an interval of dropped snapshots while the link is live, and stays live", async () => {
    const record = await liveRecord();
    await runtime.advance(5_000);
    record.snapshotDropped(noonMs + 3_000, "the store was too slow");
    await runtime.advance(1_000);
    record.snapshotDropped(noonMs + 5_000, "the store was too slow");
    record.confirmed(noonMs + 6_000);
    await record.written();
    const ended = [{ fromMs: noonMs + 3_000, toMs: noonMs + 6_000, cause: "the store was too slow" }];
    assert.deepEqual(written, [{ standing: record.standing, ended }]);
    assert.equal(record.standing.state, "live");
  });

  it("writes an interval of dropped snapshots only after a later one is stored: a node that took over would count it again", async () => {
    const record = await liveRecord();
    await runtime.advance(5_000);
    record.snapshotDropped(noonMs + 3_000, "the store was too slow");
    record.confirmed(noonMs + 2_000);
    await record.written();
    assert.deepEqual(written, []);
    record.enter("waiting", "silent: nothing was heard", 1_000);
    await record.written();
    assert.deepEqual(
      written.flatMap(({ ended }) => ended),
      [{ fromMs: noonMs + 3_000, toMs: noonMs + 4_000, cause: "the store was too slow" }],
    );
  });

  it("counts nothing twice that was dropped when the link was blind already", async () => {
    const record = await liveRecord();
    await runtime.advance(5_000);
    record.enter("waiting", "closed: bye");
    await runtime.advance(5_000);
    record.snapshotDropped(noonMs + 7_000, "the store was too slow");
    record.snapshotDropped(noonMs + 3_000, "the store was too slow");
    record.enter("live", "");
    await record.written();
    assert.deepEqual(
      written.flatMap(({ ended }) => ended),
      [
        { fromMs: noonMs + 3_000, toMs: noonMs + 5_000, cause: "the store was too slow" },
        { fromMs: noonMs + 5_000, toMs: noonMs + 10_000, cause: "closed: bye" },
      ],
    );
  });

  it("never ends an interval before it began, though the clock was set back", async () => {
    const record = await liveRecord();
    record.enter("waiting", "closed: bye");
    runtime.jump(-3_600_000);
    record.enter("live", "");
    await record.written();
    const [interval] = written.flatMap(({ ended }) => ended);
    assert.ok(interval!.fromMs <= interval!.toMs, JSON.stringify(interval));
  });

  describe("while the store is down", () => {
    it("keeps ended intervals, and writes them once, with the latest standing", async () => {
      const record = await liveRecord();
      failure = new StoreUnavailable("down");
      for (let i = 1; i <= 3; i++) {
        record.enter("waiting", `closed: time ${i}`);
        await runtime.advance(10_000);
        record.enter("live", "");
        await runtime.advance(10_000);
      }
      failure = undefined;
      await runtime.advance(1_000);
      await record.written();
      assert.equal(written.length, 1);
      assert.deepEqual(
        written[0]!.ended.map(({ fromMs, toMs, cause }) => [fromMs - noonMs, toMs - noonMs, cause]),
        [
          [0, 10_000, "closed: time 1"],
          [20_000, 30_000, "closed: time 2"],
          [40_000, 50_000, "closed: time 3"],
        ],
      );
      assert.equal(written[0]!.standing, record.standing);
    });

    it("keeps at most 1,000 intervals, of which the oldest covers all before it", async () => {
      const record = await liveRecord();
      failure = new StoreUnavailable("down");
      for (let i = 0; i < 1_500; i++) {
        record.enter("waiting", "closed: bye");
        await runtime.advance(100);
        record.enter("live", "");
        await runtime.advance(100);
      }
      failure = undefined;
      await runtime.advance(1_000);
      await record.written();
      const ended = written.flatMap((one) => one.ended);
      assert.equal(ended.length, 1_000);
      assert.deepEqual([ended[0]!.fromMs - noonMs, ended[0]!.toMs - noonMs], [0, 500 * 200 + 100]);
      assert.equal(ended.at(-1)!.toMs - noonMs, 1_499 * 200 + 100);
    });

    it("tries about once a second, however often the state changes", async () => {
      const record = await liveRecord();
      failure = new StoreUnavailable("down");
      for (let i = 0; i < 100; i++) {
        record.enter(i % 2 === 0 ? "waiting" : "live", "");
        await runtime.advance(100);
      }
      assert.ok(tries >= 9 && tries <= 11, `${tries} tries in 10 s`);
    });

    it("gives up when it is stopped", async () => {
      const record = await liveRecord();
      failure = new StoreUnavailable("down");
      record.enter("waiting", "closed: bye");
      await runtime.advance(500);
      stopping.abort();
      await record.written();
      assert.equal(runtime.timers, 0);
      assert.deepEqual(written, []);
    });
  });

  it("reports a write that an available store refuses, and retries with growing pauses", async () => {
    const record = await liveRecord();
    failure = new TypeError("a mistake");
    record.enter("waiting", "closed: bye");
    await runtime.advance(3_600_000);
    assert.deepEqual([...new Set(faults)], [failure]);
    assert.equal(faults.length, tries);
    assert.ok(tries >= 15 && tries <= 25, `${tries} tries in an hour`);
    failure = undefined;
    await runtime.advance(300_000);
    assert.equal(written.at(-1)?.standing, record.standing);
  });

  it("does not report an unavailable store: the store does that", async () => {
    const record = await liveRecord();
    failure = new StoreUnavailable("down");
    record.enter("waiting", "closed: bye");
    await runtime.advance(60_000);
    assert.deepEqual(faults, []);
  });

  it("writes what was entered while it wrote", async () => {
    const record = await liveRecord();
    record.enter("waiting", "closed: bye");
    record.enter("needs_reauth", "revoked");
    await record.written();
    assert.equal(written.at(-1)?.standing.state, "needs_reauth");
  });

  it("writes what is entered just after a write", async () => {
    const record = await liveRecord();
    for (let ticks = 0; ticks < 8; ticks++) {
      const before = written.length;
      record.enter("waiting", "closed: bye");
      while (written.length === before) await undefined;
      for (let i = 0; i < ticks; i++) await undefined;
      record.enter("live", "");
      await flushPromises();
      assert.equal(written.at(-1)?.standing.state, "live", `${ticks} ticks after the write`);
    }
  });

  it("writes nothing more when another node owns the link", async () => {
    const record = await liveRecord();
    failure = new OwnershipLost("another node's");
    record.enter("waiting", "closed: bye");
    await record.written();
    assert.equal(tries, 1);
    failure = undefined;
    record.enter("live", "");
    record.snapshotDropped(noonMs, "the store was too slow");
    await record.written();
    await runtime.advance(60_000);
    assert.deepEqual([tries, written], [1, []]);
  });

  describe("when a node starts to follow the link", () => {
    it("that was live: it is blind since the ecosystem last confirmed it", async () => {
      const record = recordOf({ state: "live", reason: "", blindness: null, confirmedMs: noonMs - 90_000 });
      const blindness = { sinceMs: noonMs - 90_000, cause: "not followed by any node" };
      assert.deepEqual(record.standing, { state: "waiting", reason: "starting", blindness });
      await runtime.advance(1_000);
      record.enter("live", "");
      await record.written();
      assert.deepEqual(
        written.flatMap(({ ended }) => ended),
        [{ fromMs: noonMs - 90_000, toMs: noonMs + 1_000, cause: "not followed by any node" }],
      );
    });

    it("that was waiting: it has been blind since then, for the same cause", () => {
      const blindness = { sinceMs: noonMs - 5_000, cause: "closed: bye" };
      const { standing } = recordOf({ state: "waiting", reason: "unreachable: refused", blindness });
      assert.deepEqual(
        [standing.state, standing.reason, standing.blindness],
        ["waiting", "unreachable: refused", blindness],
      );
    });

    it("that needs a new token: it still does", () => {
      assert.equal(recordOf({ state: "needs_reauth", reason: "revoked" }).standing.state, "needs_reauth");
    });
  });
});
