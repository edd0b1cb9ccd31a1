import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { eventually } from "../stories/world.ts";
import { linkedHouse } from "./linked-house.ts";
import { typed } from "./typed.ts";

const timeout = 120_000;
const since = /not followed since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;

describe("commands that show links", () => {
  it("show them as live, waiting, unknown or not followed, as text and as JSON", { timeout }, async (t) => {
    const { house, service, textOf, json } = await shownHouse(t, "sqlite");
    await eventually(t.signal, async () => assert.deepEqual((await json("status")).links, { live: 1 }));
    assert.match(await textOf("link", "list"), /nest +1 ada +live /);
    assert.match(await textOf("user", "show", "1"), /nest \(live\)/);

    house.simulator.addFault({ fault: "server-error", status: 503 });
    house.simulator.addFault({ fault: "drop" });
    await eventually(t.signal, async () => assert.deepEqual((await json("status")).links, { waiting: 1 }));
    assert.match(await textOf("user", "show", "1"), /nest \(waiting, as of \d{4}-\S+Z\)/);
    house.simulator.clearFaults();
    await eventually(t.signal, async () => assert.deepEqual((await json("status")).links, { live: 1 }));

    service.process.kill("SIGSTOP");
    const commands = [["status"], ["link", "list"], ["user", "show", "1"], ["device", "get", "1"]];
    const frozen = await Promise.all(commands.map((args) => typed(args, { environment: house.environment })));
    for (const { code, out, err } of frozen) {
      assert.deepEqual([code, out], [6, ""]);
      assert.match(err, /The service at \S+ does not answer: .* the state of its links is unknown/);
    }
    service.process.kill("SIGCONT");
    assert.match(await textOf("status"), /1 live/);

    service.process.kill("SIGKILL");
    await service.ended;
    for (const args of [["status"], ["link", "list"], ["user", "show", "1"]]) {
      assert.match(await textOf(...args), since);
      assert.doesNotMatch(await textOf(...args), /live/);
    }
    const { running, links, notFollowedSince } = await json("status");
    assert.deepEqual([running, links, typeof notFollowedSince], [false, { not_followed: 1 }, "number"]);
    for (const { state, stale, confirmedTime } of [
      (await json("link", "list")).links[0],
      (await json("user", "show", "1")).links[0],
    ]) {
      assert.deepEqual([state, stale, confirmedTime], ["not_followed", true, notFollowedSince]);
    }
  });

  it("show on PostgreSQL whether a node follows them", { timeout }, async (t) => {
    const { service, textOf, json } = await shownHouse(t, "postgres");
    await eventually(t.signal, async () => {
      const { running, nodes, links } = await json("status");
      assert.deepEqual([running, nodes, links], [true, 1, { live: 1 }]);
    });
    assert.match(await textOf("status"), /service +running, 1 node/);
    service.process.kill("SIGKILL");
    await eventually(t.signal, async () => assert.match(await textOf("user", "show", "1"), since));
    assert.match(await textOf("status"), /service +not running[\s\S]*not followed since/);
  });
});

/** A linked house, and commands that show its links. */
async function shownHouse(t: TestContext, database: "sqlite" | "postgres") {
  const { house, service } = await linkedHouse(t, database);
  const run = async (args: readonly string[], columns?: number) => {
    const result = await typed(args, { environment: house.environment, ...(columns && { columns }) });
    assert.equal(result.code, 0, result.err);
    return result;
  };
  return {
    house,
    service,
    textOf: async (...args: string[]) => (await run(args, 200)).out,
    json: async (...args: string[]) => (await run([...args, "--json"])).json,
  };
}
