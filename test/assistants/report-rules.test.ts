import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allThings } from "../../src/assistants/grants.ts";
import { changesOf, freshnessOfLinks, groupingMs, removalMs } from "../../src/assistants/reporter/changes.ts";
import { ReportSlots } from "../../src/assistants/reporter/slots.ts";
import type { LoggedThing } from "../../src/devices/log-entries.ts";
import { limits } from "../../src/model/limits.ts";
import type { TailedEntry } from "../../src/store/tables/log.ts";

const nowMs = 1_000_000;
const timeMs = 999_000;
const soonMs = nowMs + groupingMs;
const ecosystem = { by: "ecosystem" };

/** What an entry of the log changes. */
function changes(kind: string, body: object) {
  return changesOf({ kind, timeMs, body: JSON.stringify(body) } as unknown as TailedEntry, nowMs);
}
const marksOf = (things: readonly LoggedThing[], cause?: object) =>
  changes("thing", { things, ...(cause && { cause }) }).marks;

describe("what a log entry means for assistants", () => {
  it("is the new state of a thing, a second later with others", () => {
    const thing = { thingId: "a", what: "state", fields: { "onOff.on": true } } as const;
    const mark = { thingId: "a", sinceMs: timeMs, stateMs: soonMs, isBack: false, isUrgent: false, rises: [] };
    assert.deepEqual(marksOf([thing], ecosystem), [mark]);
    assert.deepEqual(changes("attribute", { cause: ecosystem, changes: [], things: [thing] }).marks, [mark]);
    assert.deepEqual(changes("attribute", { cause: ecosystem, changes: [] }).marks, []);
  });

  it("is another list of devices when a thing is new or described otherwise", () => {
    const found = marksOf(
      [
        { thingId: "a", what: "added" },
        { thingId: "b", what: "changed" },
      ],
      ecosystem,
    );
    assert.deepEqual(
      found.map(({ thingId, sinceMs, syncMs, isBack }) => [thingId, sinceMs, syncMs, isBack]),
      [
        ["a", timeMs, soonMs, true],
        // The assistant may have parts of it that are not there any more.
        ["b", 0, soonMs, false],
      ],
    );
  });

  it("is urgent when an alarm changes, and a rise when it is no longer clear", () => {
    const fields = { "smoke.state": "alarm", "carbonMonoxide.state": "clear" };
    assert.deepEqual(marksOf([{ thingId: "a", what: "state", fields }], ecosystem), [
      {
        ...{ thingId: "a", sinceMs: timeMs, stateMs: nowMs, isBack: false, isUrgent: true },
        rises: [{ trait: "smoke", state: "alarm", timeMs }],
      },
    ]);
    const rises = (state: string, eased?: readonly string[]) =>
      marksOf([{ thingId: "a", what: "state", fields: { "carbonMonoxide.state": state }, ...(eased && { eased }) }])[0]!
        .rises!.map((rise) => `${rise.trait} ${rise.state}`)
        .join();
    for (const state of ["warning", "alarm", "unknown"]) assert.equal(rises(state), `carbonMonoxide ${state}`);
    assert.equal(rises("clear"), "");
    assert.equal(rises("warning", ["carbonMonoxide.state"]), "", "it was an alarm before");
    assert.equal(rises("warning", ["smoke.state"]), "carbonMonoxide warning");
    const added = marksOf([{ thingId: "a", what: "added", fields: { "smoke.state": "alarm" } }], ecosystem)[0]!;
    assert.deepEqual([added.stateMs, added.syncMs], [nowMs, nowMs], "a new alarm is added before its state is told");
  });

  it("is told late that a thing is gone, unless it can't come back by itself", () => {
    const gone = { thingId: "a", what: "gone" } as const;
    assert.deepEqual(marksOf([gone], ecosystem), [
      { thingId: "a", sinceMs: timeMs, stateMs: nowMs, syncMs: nowMs + removalMs, isGone: true, isUrgent: true },
    ]);
    for (const cause of [undefined, { by: "administrator" }]) {
      assert.deepEqual(marksOf([gone], cause), [{ thingId: "a", sinceMs: timeMs, syncMs: soonMs, isGone: true }]);
    }
  });

  it("is one mark for all things when it is about more than fifty, and the urgent ones", () => {
    const many = (count: number, what: LoggedThing["what"] = "state") =>
      Array.from({ length: count }, (_, n): LoggedThing => ({ thingId: `t${n}`, what }));
    assert.equal(marksOf(many(50), ecosystem).length, 50);
    assert.deepEqual(marksOf(many(51), ecosystem), [{ thingId: allThings, stateMs: soonMs }]);
    assert.deepEqual(marksOf(many(51, "added"), ecosystem), [{ thingId: allThings, stateMs: soonMs, syncMs: soonMs }]);
    const alarm: LoggedThing = { thingId: "alarm", what: "state", fields: { "smoke.state": "alarm" } };
    assert.deepEqual(
      marksOf([...many(51), alarm], ecosystem).map(({ thingId }) => thingId),
      [allThings, "alarm"],
    );
    const unlinked = marksOf(many(51, "gone"), undefined);
    assert.equal(unlinked.length, 52, "the mark for all things is about present ones: each gone thing has its own");
    assert.ok(unlinked.slice(1).every(({ syncMs }) => syncMs === soonMs));
  });

  it("is a comparison of freshness after a change of a link, and nothing for other entries", () => {
    assert.deepEqual(changes("link", {}), { marks: [{ thingId: freshnessOfLinks, stateMs: soonMs }] });
    assert.deepEqual(changes("device", {}), { marks: [] });
  });

  it("is the state for the client whose command has an outcome", () => {
    const command = { thingId: "a", clientId: "bwc_1" };
    for (const state of ["confirmed", "failed"]) {
      const expected = { marks: [{ thingId: "a", stateMs: nowMs }], clientId: "bwc_1" };
      assert.deepEqual(changes("thingCommand", { ...command, state }), expected, state);
    }
    assert.deepEqual(changes("thingCommand", { ...command, state: "accepted" }), { marks: [] });
  });
});

describe("the slots of reports", () => {
  const { assistantSendsPerOutlet: ofOutlet, assistantSends: all, assistantSendsUrgent: reserve } = limits;

  it("are bounded for each outlet, with a reserve for emergencies", () => {
    const slots = new ReportSlots();
    for (let n = 0; n < ofOutlet - 1; n++) slots.take("a");
    assert.equal(slots.limitFor("a", false), undefined);
    assert.deepEqual(slots.taken(), { busy: [], full: [] });
    slots.take("a");
    assert.equal(slots.limitFor("a", false), "assistantSendsPerOutlet");
    assert.equal(slots.limitFor("a", true), undefined);
    assert.equal(slots.limitFor("b", false), undefined);
    assert.deepEqual(slots.taken(), { busy: ["a"], full: [] });
    while (slots.limitFor("a", true) === undefined) slots.take("a");
    assert.equal(slots.limitFor("a", true), "assistantSendsPerOutlet");
    assert.deepEqual(slots.taken(), { busy: ["a"], full: ["a"] });
    slots.release("a");
    assert.equal(slots.limitFor("a", true), undefined);
    assert.deepEqual(slots.taken(), { busy: ["a"], full: [] });
  });

  it("are left to the emergencies of a third outlet when two outlets hang", () => {
    const slots = new ReportSlots();
    for (const hanging of ["a", "b"]) while (slots.limitFor(hanging, true) === undefined) slots.take(hanging);
    assert.equal(slots.limitFor("c", false), "assistantSends");
    assert.equal(slots.limitFor("c", true), undefined);
  });

  it("are bounded in all", () => {
    const slots = new ReportSlots();
    for (let n = 0; n < all; n++) slots.take(`outlet ${n}`);
    assert.equal(slots.limitFor("another", false), "assistantSends");
    assert.equal(slots.limitFor("another", true), undefined);
    slots.release("outlet 0");
    assert.equal(slots.limitFor("another", false), undefined);
    for (let n = 0; n <= reserve; n++) slots.take(`more ${n}`);
    assert.equal(slots.limitFor("another", true), "assistantSends");
  });
});
