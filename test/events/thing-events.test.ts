import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AttributeBody, LoggedThing } from "../../src/devices/log-entries.ts";
import { compileFilter, type PlacedEntry, type ReaderFilter } from "../../src/events/client-events.ts";
import { readEventId } from "../../src/events/event-id.ts";
import { eventFrame } from "../../src/events/frames.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { LogKind } from "../../src/store/tables/log.ts";

const [home, otherHome] = [41 as DeviceId, 42 as DeviceId];
const cause = { by: "ecosystem" } as const;
const changes: AttributeBody["changes"] = [
  ["power", "on"],
  ["level", "7"],
];
const things: readonly LoggedThing[] = [
  { thingId: "t_hall", what: "state", fields: { "smoke.state": "alarm", "smoke.word": "emergency" } },
  { thingId: "t_attic", what: "changed" },
  { thingId: "t_cellar", what: "gone" },
];
const all: ReaderFilter = { deviceIds: [], attributes: [], hearsThings: true };

describe("events of things", () => {
  it("follow the attributes of their commit, one for each thing", () => {
    const data = eventsOf(all, entry("attribute", { cause, changes, things })).slice(2);
    const at = { updateTime: 1_000, cause };
    assert.deepEqual(
      data.map(({ name, data }) => [name, data]),
      [
        [
          "thing",
          {
            deviceId: home,
            thingId: "t_hall",
            what: "state",
            fields: { "smoke.state": { value: "alarm" }, "smoke.word": { value: "emergency" } },
            ...at,
          },
        ],
        ["thing", { deviceId: home, thingId: "t_attic", what: "changed", fields: {}, ...at }],
        ["thing", { deviceId: home, thingId: "t_cellar", what: "gone", fields: {}, ...at }],
      ],
    );
  });

  it("resume after each id without a gap or a repetition, in commits with attributes and without", () => {
    for (const one of [entry("attribute", { cause, changes, things }), entry("thing", { cause, things })]) {
      const events = eventsOf(all, one);
      const ids = events.map(({ id }) => id);
      assert.equal(new Set(ids).size, events.length);
      for (const [i, id] of ids.entries()) {
        const { sentChanges } = readEventId(id)!;
        const isLast = i === ids.length - 1;
        assert.equal(sentChanges === undefined, isLast, "only the last id stands for the whole entry");
        if (!isLast) assert.deepEqual(eventsOf(all, one, sentChanges), events.slice(i + 1));
      }
    }
  });

  it("change no byte of a stream that did not ask for them", () => {
    const framesOf = (filter: ReaderFilter, one: PlacedEntry) => eventsOf(filter, one).map(eventFrame).join("");
    for (const filter of [
      { deviceIds: [], attributes: [] },
      { deviceIds: [home], attributes: ["level"] },
    ]) {
      const before = framesOf(filter, entry("attribute", { cause, changes }));
      assert.notEqual(before, "");
      assert.equal(framesOf(filter, entry("attribute", { cause, changes, things })), before);
      assert.equal(framesOf(filter, entry("thing", { cause, things })), "");
    }
  });

  it("let a stream without things resume where one with things broke off", () => {
    const one = entry("attribute", { cause, changes, things });
    const lastAttribute = readEventId(eventsOf(all, one)[1]!.id)!;
    assert.deepEqual(eventsOf({ deviceIds: [], attributes: [] }, one, lastAttribute.sentChanges), []);
  });

  it("obey the filters by device and by thing; a filter by attribute does not restrict them", () => {
    const one = entry("attribute", { cause, changes, things });
    const shown = (filter: Partial<ReaderFilter>) =>
      eventsOf({ ...all, ...filter }, one).map(({ data }) => data.thingId ?? data.name);
    assert.deepEqual(shown({ deviceIds: [otherHome] }), []);
    assert.deepEqual(shown({ deviceIds: [home], attributes: ["level"], thingIds: ["t_cellar", "t_hall"] }), [
      "level",
      "t_hall",
      "t_cellar",
    ]);
    const [, ofCellar] = eventsOf({ ...all, attributes: ["level"], thingIds: ["t_cellar"] }, one);
    assert.equal(ofCellar?.id, eventsOf(all, one).at(-1)?.id, "an event has the same id whatever the filter");
  });

  it("have no cause when the account was unlinked", () => {
    const [event] = eventsOf(all, entry("thing", { things: [things[2]!] }));
    assert.equal(event?.data.cause, undefined);
  });
});

function entry(kind: LogKind, body: object): PlacedEntry {
  const position = { transaction: 0, id: 7 };
  return { userId: 1 as UserId, deviceId: home, kind, timeMs: 1_000, body: JSON.stringify(body), position };
}

function eventsOf(filter: ReaderFilter, one: PlacedEntry, sentChanges?: number) {
  return compileFilter(filter, () => assert.fail("the entry could not be read"))(one, "epoch", sentChanges);
}
