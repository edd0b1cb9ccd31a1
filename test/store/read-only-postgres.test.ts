import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { eventually } from "../stories/world.ts";

describe("a PostgreSQL whose sessions were read-only", { skip: missingPostgres() ?? false }, () => {
  it("is writable and healthy as soon as new sessions may write", { timeout: 30_000 }, async (t) => {
    const cluster = await sharedCluster();
    const url = await cluster.createDatabase();
    const name = new URL(url).pathname.slice(1);
    const administrator = new pg.Client({ connectionString: cluster.url });
    await administrator.connect();
    t.after(() => administrator.end());
    await administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    const store = await openPostgres({ url });
    t.after(() => store.close());
    const write = () => store.transaction((tx) => tx.settings.set("name", "value"));

    await administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await assert.rejects(write(), StoreUnavailable);
    await assert.rejects(store.health(), /default_transaction_read_only/);

    await administrator.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    // At the first attempt: no old read-only session is used again.
    await write();
    await eventually(t.signal, async () => void (await store.health()));
  });
});
