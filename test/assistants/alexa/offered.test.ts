import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onStore } from "../../contracts/store/harness.ts";
import { sqliteHarness } from "../../contracts/store/sqlite-harness.ts";
import { rounds } from "../../set-up/extent.ts";
import { seededRandom } from "../../set-up/seeded-random.ts";
import { limitedHome, things } from "./limited-home.ts";

describe("the devices that Alexa is offered", () => {
  // Amazon does not say whether a discovery removes the endpoints that it does not name.
  for (const discoverMeans of ["Discover.Response", "AddOrUpdateReport"] as const) {
    it(`are those that discovery names, after any change and any failure of a report; it acts as ${discoverMeans}`, async (t) => {
      const random = seededRandom(t);
      const among = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
      await onStore(sqliteHarness, async (store) => {
        let failing = 0;
        const fails = () => (random() < failing ? among(["down", "dies"] as const) : "no");
        const made = await limitedHome(store, { fails, discoverMeans });
        const { home, customer, refused, chosen, mark, discover, add, remove, report } = made;
        let count = 0;
        const addAny = () =>
          add(
            `t_${random()}_${++count}`.replace(".", ""),
            things[among(["lamp", "plug", "alarm", "heater"] as const)](),
          );
        while (chosen().length < 300) await addAny();
        await discover();
        while (await report());
        for (let round = 0; round < rounds({ all: 200, few: 15 }); round++) {
          failing = among([0, 0.02, 0.1]);
          for (let steps = Math.ceil(random() * 4); steps > 0; steps--) {
            const { thingId, goneMs } = among([...home.values()]);
            if (random() < 0.5) await addAny();
            else if (goneMs !== null) await remove(thingId, "was gone");
            else if (random() < 0.6) await remove(thingId, among(["at once", "later"] as const));
            else await mark(thingId, { stateMs: 1, ...(random() < 0.5 && { syncMs: 1 }) });
          }
          for (let reports = Math.floor(random() * 3); reports > 0; reports--) await report();
          if (random() < 0.1) await discover();
          failing = 0;
          if (random() < 0.3) while (await report());
        }
        for (const [thingId, { goneMs }] of [...home]) {
          if (goneMs === null) continue;
          await remove(thingId, "at once");
        }
        while (await report());
        assert.deepEqual(refused, [], "others make room first");
        assert.deepEqual([...customer.endpoints.keys()].sort(), chosen().toSorted());
        for (const id of chosen()) assert.ok(customer.states.has(id), `the state of ${id} was not told`);
      });
    });
  }
});
