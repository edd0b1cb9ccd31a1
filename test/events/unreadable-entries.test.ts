import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileFilter, type PlacedEntry } from "../../src/events/client-events.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";

const entry = (kind: PlacedEntry["kind"], body: string): PlacedEntry => ({
  userId: 1 as UserId,
  deviceId: 2 as DeviceId,
  kind,
  timeMs: 5,
  body,
  position: { transaction: 7, id: 8 },
});

describe("an entry of the log that can't be read", () => {
  it("is reported and left out, and stops no other", () => {
    const unreadable: PlacedEntry[] = [];
    const eventsOf = compileFilter({ deviceIds: [], attributes: [] }, (one) => unreadable.push(one));
    const broken = [entry("attribute", "{"), entry("alert", "nonsense"), entry("attribute", "{}")];
    assert.deepEqual(
      broken.flatMap((one) => eventsOf(one, "e")),
      [],
    );
    assert.deepEqual(unreadable, broken);
    const whole = entry("attribute", JSON.stringify({ cause: { by: "client" }, changes: [["power", "on"]] }));
    assert.equal(eventsOf(whole, "e").length, 1);
  });
});
