import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { eventuallySlowly, startFleet } from "./fleet.ts";

const links = rounds({ all: 60, few: 9 });

describe("three nodes on one database", { skip: missingPostgres() ?? false }, () => {
  it(`share ${links} links, and follow all of them when one node freezes, one is killed and one stops`, {
    timeout: 180_000,
  }, async (t) => {
    const fleet = await startFleet(t, await sharedCluster(), { links });
    const { signal } = t;
    await fleet.untilShared(signal);
    await fleet.change(fleet.homes.map(({ accountId }) => accountId));
    await fleet.untilMirrored(signal);
    const [first, second, third] = fleet.nodes as [
      (typeof fleet.nodes)[0],
      (typeof fleet.nodes)[0],
      (typeof fleet.nodes)[0],
    ];

    const itsOwn = await fleet.accountsOf(first);
    assert.ok(itsOwn.length > 0);
    first.service.process.kill("SIGSTOP");
    await eventuallySlowly(signal, async () => assert.deepEqual(await fleet.accountsOf(first), []));
    await fleet.change(itsOwn, { smoke: true });
    await fleet.untilMirrored(signal, itsOwn);
    first.service.process.kill("SIGCONT");
    await fleet.change(itsOwn);
    await fleet.untilShared(signal);
    await fleet.untilMirrored(signal);

    second.service.process.kill("SIGKILL");
    await fleet.untilShared(signal, [first, third]);
    await fleet.change(fleet.homes.map(({ accountId }) => accountId));
    await fleet.untilMirrored(signal);

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
