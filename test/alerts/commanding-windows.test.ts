import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Commanding } from "../../src/alerts/alerts.ts";
import { limits } from "../../src/model/limits.ts";
import { clockedStore } from "../own-things/clocked-store.ts";
import { madeAlerts, target } from "./made-alerts.ts";
import { switchOn } from "./made-commanding.ts";

const minuteMs = 60_000;

/** An alert that commands one lamp at each write of an attribute, on a clock that the test moves. */
async function madeWindows(t: TestContext) {
  const { store, clock } = await clockedStore(t);
  const reached: string[] = [];
  let sent = 0;
  let woken = 0;
  const commanding: Commanding = {
    reached: async () => ["t_lamp"],
    async admit(_, { thingIds }) {
      sent += thingIds.length;
      return thingIds.map((thingId) => ({ thingId, commandId: `c${sent}`, state: "queued" }));
    },
    admitted() {
      woken += 1;
    },
  };
  const home = await madeAlerts(store, { commanding, onLimitReached: (limit) => reached.push(limit) });
  const { add, write, lamp, firings } = home;
  const each = { deviceId: lamp, attributeName: "n", operation: "regex", stringThreshold: ".*", autoDisarm: false };
  const commands = [{ kind: "light", ...switchOn }] as const;
  const fire = (value = "on") => write(lamp, "n", value);
  const lastNote = async () => (await firings(lamp)).at(-1)?.note;
  return {
    ...{ clock, reached, fire, lastNote, lamp },
    addCommanding: (change = {}) => add({ ...each, action: "note", targets: [], commands, ...change }),
    sent: () => sent,
    woken: () => woken,
  };
}

describe("an alert with commands that fires again and again", () => {
  it("commands up to ten times in a minute, and again in the next one", async (t) => {
    const { clock, addCommanding, fire, sent, woken, reached, lastNote } = await madeWindows(t);
    await addCommanding();
    const most = limits.commandingFiringsPerMinute;
    for (let nth = 0; nth < most; nth++) await fire();
    assert.deepEqual([sent(), reached, await lastNote()], [most, [], undefined]);
    clock.nowMs += minuteMs - 1;
    await fire();
    assert.deepEqual([sent(), woken(), reached], [most, most, ["commandingFiringsPerMinute"]]);
    assert.equal(await lastNote(), "stopped at the limit commandingFiringsPerMinute");
    clock.nowMs += 1;
    await fire();
    assert.deepEqual([sent(), woken(), await lastNote()], [most + 1, most + 1, undefined]);
    for (let nth = 1; nth < most; nth++) await fire();
    assert.equal(sent(), 2 * most, "the firings of the next minute count from its beginning");
    clock.nowMs -= minuteMs;
    await fire();
    assert.equal(sent(), 2 * most + 1, "a clock that was set back stops it for a minute at most");
  });

  it("neither commands nor counts a firing that a limit of its writes has stopped", async (t) => {
    const { addCommanding, fire, sent, woken, lamp, lastNote } = await madeWindows(t);
    const targets = Array.from({ length: limits.alertWritesPerCause / 2 }, (_, nth) => target(lamp, `l${nth}`, "on"));
    // Each writes half of what a change may write.
    for (let nth = 0; nth < 2; nth++) {
      await addCommanding({ action: "attribute", targets, commands: [], operation: "equals", stringThreshold: "all" });
    }
    await addCommanding({ action: "attribute", targets: targets.slice(0, 1) });
    for (let nth = 0; nth < limits.commandingFiringsPerMinute; nth++) await fire("all");
    assert.deepEqual([sent(), woken(), await lastNote()], [0, 0, "stopped at the limit"]);
    await fire("one");
    assert.deepEqual([sent(), woken(), await lastNote()], [1, 1, undefined]);
  });
});
