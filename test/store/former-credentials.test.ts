import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { hashOf, keyOf, newSecret } from "../../src/identity/secrets.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { migrate } from "../../src/store/migrations.ts";
import { LentSql } from "../../src/store/postgres/connection.ts";
import { databaseClock, openPostgres } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { Sql } from "../../src/store/sql.ts";
import { Connection, withSql } from "../../src/store/sqlite/connection.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

/** The last schema step before credentials contained their owner. */
const stepsBefore = 7;

/** A database that the test fills with the old schema, and that this version opens then. */
interface Place {
  prepare(body: (sql: Sql) => Promise<void>): Promise<void>;
  open(): Promise<OpenStore>;
}

const places: Record<"SQLite" | "PostgreSQL", (t: TestContext) => Promise<Place>> = {
  async SQLite(t) {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-former-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    return {
      async prepare(body) {
        const connection = new Connection(join(folder, "breezeway.db"));
        await withSql(connection, () => 1_000, body);
        connection.close();
      },
      open: () => openSqlite({ folder, nowMs: () => 1_000 }),
    };
  },
  async PostgreSQL(t) {
    const url = await (await sharedCluster()).createDatabase();
    return {
      async prepare(body) {
        const client = new pg.Client({ connectionString: url, pipeline: true });
        await client.connect();
        t.after(() => client.end());
        const sql = new LentSql(client as unknown as pg.PoolClient, databaseClock);
        sql.begin();
        await body(sql);
        await sql.commit();
      },
      open: () => openPostgres({ url }),
    };
  },
};

const [tenantId, userId, deviceId] = [1 as TenantId, 1 as UserId, 1 as DeviceId];

/** Credentials of a client, a user and an enterprise client in the old format. */
const held = {
  access: newSecret("bwa_"),
  ofTenant: newSecret("bwa_"),
  refresh: newSecret("bwr_"),
  next: newSecret("bwr_"),
  code: newSecret(""),
  signIn: newSecret(""),
  secToken: newSecret("bws_"),
};

async function fillAsBefore(sql: Sql): Promise<void> {
  assert.ok((await migrate(sql, { most: stepsBefore })) > 0);
  const hash = (name: keyof typeof held) => `'${hashOf(held[name])}'`;
  for (const statement of [
    "INSERT INTO tenants (id, name, created_ms) VALUES (1, 'Acme', 1)",
    "INSERT INTO users (tenant_id, name, password_hash, is_admin, created_ms) VALUES (1, 'Ada', '…', 0, 1)",
    "INSERT INTO device_types (name) VALUES ('lamp')",
    `INSERT INTO devices (user_id, tenant_id, type_id, name, is_virtual, last_time_ms, created_ms)
     VALUES (1, 1, 1, 'lamp', 0, 5, 1)`,
    `INSERT INTO links (user_id, device_id, ecosystem, sealed_token, state, reason, epoch, confirmed_ms, index_map, notices)
     VALUES (1, 1, 'nest', '…', 'live', '', 1, 1, '{}', '{}')`,
    `INSERT INTO clients (id, tenant_id, name, kind, redirect_uris, requires_pkce, secrets, created_ms)
     VALUES ('c', 1, 'Voice', 'user', '[]', 0, '[]', 1)`,
    "INSERT INTO grants (id, tenant_id, user_id, client_id, reach, created_ms) VALUES ('g', 1, 1, 'c', 'user', 1)",
    "INSERT INTO grants (id, tenant_id, user_id, client_id, reach, created_ms) VALUES ('t', 1, NULL, 'c', 'tenant', 1)",
    `INSERT INTO access_tokens (hash, grant_id, expires_ms) VALUES (${hash("access")}, 'g', ${2 ** 50})`,
    `INSERT INTO access_tokens (hash, grant_id, expires_ms) VALUES (${hash("ofTenant")}, 't', ${2 ** 50})`,
    `INSERT INTO refresh_tokens (hash, grant_id, issued_ms, expires_ms, is_used)
     VALUES (${hash("refresh")}, 'g', 1, ${2 ** 50}, 1)`,
    `INSERT INTO refresh_tokens (hash, grant_id, parent_hash, issued_ms, expires_ms, is_used)
     VALUES (${hash("next")}, 'g', ${hash("refresh")}, 2, ${2 ** 50}, 0)`,
    `INSERT INTO codes (hash, client_id, user_id, redirect_uri, is_redirect_uri_sent, expires_ms)
     VALUES (${hash("code")}, 'c', 1, 'https://a.example/', 1, ${2 ** 50})`,
    `INSERT INTO sign_ins (id_hash, login_id, secret_hash, user_id, client_id, request, expires_ms)
     VALUES (${hash("signIn")}, 'l', 's', 1, 'c', '{}', ${2 ** 50})`,
    `INSERT INTO sec_tokens (hash, user_id, issued_ms, used_ms) VALUES (${hash("secToken")}, 1, 1, 1)`,
    "INSERT INTO audit (tenant_id, time_ms, act, user_id, source, detail) VALUES (1, 1, 'sign_in', 1, 'x', '{}')",
    "INSERT INTO audit (tenant_id, time_ms, act, source, detail) VALUES (1, 2, 'grant', 'x', '{}')",
    "INSERT INTO audit (time_ms, act, source, detail) VALUES (3, 'admin', 'x', '{}')",
    ...["NULL", "1"].flatMap((user, i) => [
      `INSERT INTO webhooks (id, tenant_id, user_id, client_id, url, sealed_secret, device_ids, attributes,
         from_transaction, from_entry, created_ms) VALUES ('w${i}', 1, ${user}, 'c', 'https://a.example/', '…', '[]', '[]', 0, 0, ${i})`,
      `INSERT INTO webhook_deliveries (webhook_id, user_id, device_id, message_id, type, body, state, attempts, next_ms, created_ms)
       VALUES ('w${i}', 1, 1, 'm', 'device', '{}', 'waiting', 0, 1, 1)`,
    ]),
  ])
    await sql.run(statement);
}

for (const [database, place] of Object.entries(places)) {
  const skip = database === "PostgreSQL" ? (missingPostgres() ?? false) : false;
  describe(`a store on ${database} from before credentials contained their owner`, { skip }, () => {
    it("is migrated, and all issued credentials stay valid", { timeout: 60_000 }, async (t) => {
      const made = await place(t);
      await made.prepare(fillAsBefore);
      const store = await made.open();
      t.after(() => store.close());

      await store.transaction(async (tx) => {
        const { grant, scope } = (await tx.accessTokens.find(keyOf(held.access)))!;
        const noTerms = { termsVersion: null, termsMs: null };
        const expected = { id: "g", tenantId, userId, clientId: "c", covers: "user", scope: null, ...noTerms };
        assert.deepEqual({ ...grant }, expected);
        assert.equal(scope, null, "it is good for everything, as before");
        assert.equal((await tx.accessTokens.find(keyOf(held.ofTenant)))?.grant.userId, null);
        const refresh = (await tx.refreshTokens.find(keyOf(held.refresh)))!;
        assert.deepEqual([refresh.ownerId, refresh.grantId], [userId, "g"]);
        assert.equal((await tx.refreshTokens.children(refresh)).length, 1);
        const next = (await tx.refreshTokens.find(keyOf(held.next)))!;
        await tx.refreshTokens.retireParent(next, 9);
        assert.equal((await tx.refreshTokens.find(refresh))?.retiresMs, 9);
        assert.equal((await tx.codes.find(keyOf(held.code)))?.userId, userId);
        assert.equal((await tx.signIns.find(keyOf(held.signIn)))?.userId, userId);
        assert.equal((await tx.secTokens.find(keyOf(held.secToken)))?.userId, userId);
        assert.equal(await tx.accessTokens.find(keyOf(newSecret("bwa_"))), undefined);

        assert.equal((await tx.devices.find(userId, deviceId))?.lastTimeMs, 5);
        assert.ok(await tx.links.ofDevice(userId, deviceId));
        const { rows: audited } = await tx.audit.page({ limit: 9 });
        assert.deepEqual(
          audited.map((entry) => [entry.tenantId, entry.userId]),
          [
            [null, null],
            [tenantId, null],
            [tenantId, userId],
          ],
        );
        const webhooks = await tx.webhooks.hearing([userId]);
        assert.deepEqual(
          webhooks.map((webhook) => [webhook.id, webhook.userId]),
          [
            ["w0", null],
            ["w1", userId],
          ],
        );
        for (const webhook of webhooks) assert.equal((await tx.deliveries.ofWebhook(webhook, 9)).length, 1);
      });

      await store.transaction(async (tx) => {
        const [grant] = await tx.grants.ofUser(userId);
        assert.equal(await tx.grants.remove(grant!), true);
        for (const name of ["access", "refresh", "next"] as const) {
          assert.equal(await tx.accessTokens.find(keyOf(held[name])), undefined);
          assert.equal(await tx.refreshTokens.find(keyOf(held[name])), undefined);
        }
        assert.ok(await tx.accessTokens.find(keyOf(held.ofTenant)));
        assert.equal(await tx.secTokens.remove(keyOf(held.secToken)), true);
        const added = { typeName: "lamp", name: "next", isVirtual: false };
        assert.equal(await tx.devices.add({ userId, ...added }), 2, "ids go on where they were");
      });
    });
  });
}
