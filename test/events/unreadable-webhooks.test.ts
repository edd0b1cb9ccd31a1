import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import { Backlog } from "../../src/events/webhooks/backlog.ts";
import { CompiledFilters } from "../../src/events/webhooks/compiled-filters.ts";
import { feedWebhooks, unreadableWebhooks } from "../../src/events/webhooks/feeder.ts";
import type { UserId } from "../../src/model/ids.ts";
import { webhookRoutes } from "../../src/outlets/v3/webhook-routes.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { makeTenant, makeWebhook } from "../contracts/store/made-webhook.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("a webhook whose row can't be read", () => {
  for (const broken of ["{", "null", '"lamp"']) {
    it(`gets no messages and stops no other webhook: ${broken}`, () =>
      onDatabase(sqliteHarness, async (database) => {
        const store = await database.open();
        const tenant = { id: await makeTenant(store, "Acme"), name: "Acme" };
        const bad = await makeWebhook(store, tenant, "wh_bad");
        const good = await makeWebhook(store, tenant, "wh_good");
        await database.sql(`UPDATE webhooks SET attributes = '${broken}' WHERE id = 'wh_bad'`);
        const [userId, deviceId] = await store.transaction(async (tx) => {
          const user = { tenantId: tenant.id, name: "ada", passwordHash: "…", isAdmin: false };
          const id = (await tx.users.add(user)) as UserId;
          return [id, await tx.devices.add({ userId: id, typeName: "lamp", name: "lamp", isVirtual: false })] as const;
        });
        const reported: unknown[] = [];
        const parts = {
          filters: new CompiledFilters(() => undefined),
          backlog: new Backlog(() => undefined),
          unreadable: unreadableWebhooks({ ...silent, error: (fields) => void reported.push(fields) }),
        };
        const waiting = async (key: typeof good) =>
          (await store.read((tx) => tx.deliveries.ofWebhook(key, 10))).map(
            ({ body }) => JSON.parse(body).data.attributes,
          );
        for (const power of ["on", "off"]) {
          await store.transaction((tx) =>
            tx.log.append(
              attributeEntry(userId, deviceId, 1, { by: "administrator" }, [{ key: "power", value: power }]),
            ),
          );
          assert.equal(await feedWebhooks(store, {}, parts), "done");
        }
        assert.deepEqual(await waiting(good), [{ power: "off" }, { power: "on" }]);
        assert.deepEqual(await waiting(bad), []);
        assert.deepEqual(reported, [{ webhook: "wh_bad", owner: bad.ownerId }]);
        const owner = { kind: "enterprise", tenantId: tenant.id, clientId: "client of Acme" } as const;
        const listed = await store.read((tx) => tx.webhooks.ofOwner(owner));
        assert.deepEqual(
          listed.map(({ id, isReadable, attributes }) => ({ id, isReadable, attributes })),
          [
            { id: "wh_bad", isReadable: false, attributes: [] },
            { id: "wh_good", isReadable: true, attributes: [] },
          ],
        );
      }));
  }

  it("is listed with its problem", async () => {
    const row = { id: "wh_bad", url: "https://receiver.example/", deviceIds: [], attributes: [], createdMs: 5 };
    const list = async () => [false, true].map((isReadable) => ({ ...row, isReadable }));
    const routes = webhookRoutes({ webhooks: { list }, tokens: { clientOf: async () => "c" } } as never);
    const route = routes.find(({ methods }) => methods.includes("GET"))! as { answer(...given: unknown[]): unknown };
    const { body } = (await route.answer({}, { kind: "user", userId: 1 })) as { readonly body: string };
    const [bad, good] = JSON.parse(body).webhooks;
    assert.match(bad.problem, /can't be read, so the webhook gets no messages/);
    assert.ok(!("problem" in good));
  });
});
