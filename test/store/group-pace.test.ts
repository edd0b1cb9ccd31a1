import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GroupPace, groupsApartMs } from "../../src/store/groups/group-pace.ts";

describe("the pace of groups", () => {
  function paceAt() {
    const clock = { nowMs: 1_000 };
    const rests: number[] = [];
    const sleep = async (ms: number) => {
      rests.push(ms);
      clock.nowMs += ms;
    };
    return { pace: new GroupPace({ nowMs: () => clock.nowMs, sleep }), clock, rests };
  }

  it("lets a commit begin at once that no other commit shares a group with", async () => {
    const { pace, rests } = paceAt();
    for (let group = 0; group < 3; group++) {
      await pace.turn();
      pace.committed(1);
    }
    assert.deepEqual(rests, []);
  });

  it("keeps groups apart after a group of several, counted from its beginning", async () => {
    const { pace, clock, rests } = paceAt();
    await pace.turn();
    clock.nowMs += 4;
    pace.committed(2);
    await pace.turn();
    assert.deepEqual(rests, [groupsApartMs - 4]);
    clock.nowMs += groupsApartMs;
    pace.committed(9);
    await pace.turn();
    assert.equal(rests.length, 1, "the group took longer than the pause");
    pace.committed(1);
    await pace.turn();
    assert.equal(rests.length, 1, "the load is over");
  });
});
