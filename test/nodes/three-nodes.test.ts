import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { eventuallySlowly, type FleetNode, startFleet } from "./fleet.ts";

const links = rounds({ all: 60, few: 9 });

describe("three nodes on one database", { skip: missingPostgres() ?? false }, () => {
  it(`share ${links} links and mirror all of them while one freezes, one is killed and one stops; alerts fire once`, {
    timeout: 180_000,
  }, async (t) => {
    const fleet = await startFleet(t, await sharedCluster(), { links });
    const { signal } = t;
    await fleet.untilShared(signal);
    await fleet.change(fleet.homes.map(({ accountId }) => accountId));
    await fleet.untilMirrored(signal);
    const [first, second, third] = fleet.nodes as [FleetNode, FleetNode, FleetNode];

    const accountsOfFirst = await fleet.accountsOf(first);
    assert.ok(accountsOfFirst.length > 0);
    // One node freezes: its lease ends while the process still exists.
    first.service.process.kill("SIGSTOP");
    await eventuallySlowly(signal, async () => assert.deepEqual(await fleet.accountsOf(first), []));
    await fleet.change(accountsOfFirst, { smoke: true });
    await fleet.untilMirrored(signal, accountsOfFirst);
    first.service.process.kill("SIGCONT");
    await fleet.change(accountsOfFirst);
    await fleet.untilShared(signal);
    await fleet.untilMirrored(signal);

    // One is killed.
    second.service.process.kill("SIGKILL");
    await fleet.untilShared(signal, [first, third]);
    await fleet.change(fleet.homes.map(({ accountId }) => accountId));
    await fleet.untilMirrored(signal);

    // One stops as it should.
    third.service.process.kill("SIGTERM");
    await fleet.untilShared(signal, [first]);
    assert.equal(await third.service.ended, 0);
    await fleet.change(fleet.homes.map(({ accountId }) => accountId));
    await fleet.untilMirrored(signal);

    const { foreign, writes } = await fleet.witnessed();
    assert.equal(foreign, 0, "a node wrote to a device whose link was not its own");
    assert.ok(writes > 0);
    await fleet.assertFiredOnce();
  });
});
