import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { callControl } from "../../src/cli/control-socket.ts";
import { readConfig } from "../../src/config.ts";
import { addressPlace, sealedPlace } from "../../src/events/webhooks/webhooks.ts";
import { tokenPlace } from "../../src/federation/link-key.ts";
import { answerPlace } from "../../src/idempotency/idempotent-writes.ts";
import { startLogging } from "../../src/logging.ts";
import type { NodeId, OwnerId, TenantId } from "../../src/model/ids.ts";
import { openParts, type Parts } from "../../src/service.ts";
import { dataFolder } from "../../src/store/data-folder.ts";
import { sealingFromFile } from "../../src/store/key-file.ts";
import { logStart } from "../../src/store/tables/log.ts";
import { folderOf } from "../cli/made-folder.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { startChild } from "../stories/child-service.ts";
import { type Deployment, databases } from "../stories/world.ts";

/** All parts on a store of their own, with so many sealed values in it. */
async function madeWorld(t: TestContext, database: Deployment, values: number) {
  const folder = folderOf(t);
  const databaseUrl = database === "postgres" ? await (await sharedCluster()).createDatabase() : undefined;
  const config = readConfig({
    flags: {},
    environment: { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: databaseUrl },
  });
  const keyFile = join(folder, "breezeway.key");
  const open = async () => {
    const opened = await openParts(config, startLogging("silent"));
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= opened.close());
    t.after(close);
    return { ...opened, close };
  };
  const parts = await open();
  await fill(parts, keyFile, values);
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  const run = (command: string, tell?: () => void, input = {}): Promise<any> =>
    parts.administration.run(command, input, undefined, tell);
  return { folder, keyFile, parts, run, open };
}

/** One link, one address of a webhook, one answer with a secret, and secrets of webhooks for the rest. */
async function fill({ identity, administration, store }: Parts, keyFile: string, values: number): Promise<void> {
  const sealing = sealingFromFile(keyFile);
  const { tenantId } = await identity.addTenant({ name: "Acme" });
  const userId = await identity.addUser({ tenant: "Acme", name: "ada", password: "a good password", isAdmin: false });
  const device = { user: String(userId), name: "Home", type: "EcosystemAccount" };
  const { deviceId } = (await administration.run("device add", device)) as never as { deviceId: never };
  await store.transaction(async (tx) => {
    await tx.links.add({
      userId,
      deviceId,
      ecosystem: "nest",
      sealedToken: sealing.seal("c.token", tokenPlace(userId, "nest")),
      state: "needs_reauth",
      reason: "",
      owner: "nobody" as NodeId,
      confirmedMs: 0,
      indexMap: "{}",
      notices: "{}",
      blindness: null,
    });
    const [sealedUrl, url] = [sealing.seal("https://a.example/", addressPlace("w00001")), ""];
    const answered = { ownerId: userId, hash: "k" };
    const sealedAnswer = sealing.seal("an answer", answerPlace(answered));
    await tx.idempotencyKeys.add(answered, { isSealed: true, text: sealedAnswer }, 60_000);
    await tx.idempotencyKeys.add({ ...answered, hash: "other" }, { isSealed: false, text: "in clear" }, 60_000);
    for (let i = 1; i < values - 2; i++) {
      const made = webhook(`w${String(i).padStart(5, "0")}`, tenantId, sealing.seal);
      await tx.webhooks.add(i === 1 ? { ...made, sealedUrl, url } : made);
    }
  });
}

function webhook(id: string, tenantId: TenantId, seal: (text: string, place: string) => string) {
  const sealedSecret = seal(`secret of ${id}`, sealedPlace(id));
  const owner = { id, tenantId, userId: null, clientId: "c" };
  return {
    ...owner,
    url: "https://a.example/",
    sealedUrl: null,
    sealedSecret,
    deviceIds: [],
    attributes: [],
    from: logStart,
  };
}

const firstWebhook = { kind: "webhook", ownerId: -(2 ** 31) as OwnerId, id: "" } as const;

/** Opens every value with the keys that are in the file now. */
async function openAll({ store }: Parts, keyFile: string): Promise<number> {
  const sealing = sealingFromFile(keyFile);
  const secrets = await store.read((tx) => tx.sealedValues.after(firstWebhook, 100_000));
  const addresses = await store.read((tx) => tx.sealedValues.after(secrets.at(-1)?.place, 100_000));
  assert.ok(addresses.length > 0);
  const answers = await store.read((tx) => tx.sealedValues.after(addresses.at(-1)?.place, 100_000));
  assert.equal(answers.length, 1);
  const values = [...secrets, ...addresses, ...answers];
  for (const { place, sealed } of values) {
    if (place.kind === "webhook") assert.equal(sealing.open(sealed, sealedPlace(place.id)), `secret of ${place.id}`);
    else if (place.kind === "webhook address") {
      assert.equal(sealing.open(sealed, addressPlace(place.id)), "https://a.example/");
    } else if (place.kind === "answer") {
      assert.equal(sealing.open(sealed, answerPlace({ ...place, hash: place.id })), "an answer");
    }
  }
  const [link] = await store.read((tx) => tx.sealedValues.after(undefined, 1));
  assert.ok(link?.place.kind === "link");
  assert.equal(sealing.open(link.sealed, tokenPlace(link.place.userId, "nest")), "c.token");
  return values.length + 1;
}

for (const database of databases) {
  describe(`the key of a store on ${database}`, () => {
    it("is replaced by another while all stays readable, and can go then", { timeout: 60_000 }, async (t) => {
      const { folder, keyFile, parts, run } = await madeWorld(t, database, 250);
      const [{ keyId: old }] = (await run("key list")).keys;
      if (database === "postgres") {
        await assert.rejects(run("key rotate"), /The other nodes must know the new key first\. Run: breezeway key add/);
        await run("key add");
        const roles = (await run("key list")).keys.map(({ role, values }: { role: string; values: number }) => [
          role,
          values,
        ]);
        assert.deepEqual(roles, [
          ["current", 250],
          ["next", 0],
        ]);
      }
      const { keyId, resealed } = await run("key rotate");
      assert.notEqual(keyId, old);
      assert.equal(resealed, 250);
      assert.equal(await openAll(parts, keyFile), 250);
      assert.deepEqual((await run("key list")).keys, [
        { keyId, role: "current", values: 250 },
        { keyId: old, role: "old", values: 0 },
      ]);
      assert.deepEqual(await run("key prune"), { removed: [old] });
      assert.equal(readFileSync(keyFile, "utf8").trim().split("\n").length, 1);
      assert.equal(await openAll(parts, keyFile), 250);
      assert.deepEqual(await run("key prune"), { removed: [] });
      if (database === "postgres") {
        await assert.rejects(
          run("backup", undefined, { to: folder }),
          /This store is PostgreSQL, which is backed up with its own tools: pg_dump/,
        );
      } else await run("backup", undefined, { to: folder });
      const acts = (await parts.identity.audit.list({ limit: 10 })).map(({ detail }) => detail.command);
      const expected = database === "postgres" ? ["key add"] : ["backup"];
      for (const act of [...expected, "key rotate", "key prune"]) assert.ok(acts.includes(act), act);
    });

    it("goes on with a rotation that broke off, and keeps both keys until it is over", {
      timeout: 60_000,
    }, async (t) => {
      const { keyFile, parts, run } = await madeWorld(t, database, 450);
      if (database === "postgres") await run("key add");
      const breakOff = () => {
        throw new Error("broken off");
      };
      await assert.rejects(run("key rotate", breakOff), /broken off/);
      assert.equal(await openAll(parts, keyFile), 450);
      const standing = (await run("key list")).keys;
      assert.ok(
        standing.every(({ values }: { values: number }) => values > 0),
        JSON.stringify(standing),
      );
      await assert.rejects(run("key prune"), /A rotation isn't over yet\. Finish it with: breezeway key rotate/);
      const { keyId } = await run("key rotate");
      assert.equal(keyId, standing[0].keyId);
      assert.deepEqual(await run("key prune"), { removed: [standing[1].keyId] });
      assert.equal(await openAll(parts, keyFile), 450);
    });

    it("must be at hand, both of them while a rotation isn't over", { timeout: 60_000 }, async (t) => {
      const { keyFile, parts, run, open } = await madeWorld(t, database, 250);
      if (database === "postgres") await run("key add");
      const firstLine = () => `${readFileSync(keyFile, "utf8").split("\n")[0]}\n`;
      const oldKey = firstLine();
      await assert.rejects(
        run("key rotate", () => assert.fail("broken off")),
        /broken off/,
      );
      const newKey = firstLine();
      await parts.close();
      for (const lone of [newKey, oldKey]) {
        writeFileSync(keyFile, lone, { mode: 0o600 });
        await assert.rejects(open(), /holds key \S+, but this store's tokens are sealed with key \S+, \S+/);
      }
    });
  });
}

describe("a service that is killed while it changes its key", () => {
  it("starts again, opens everything, and finishes", { timeout: 60_000 }, async (t) => {
    const { folder, keyFile, parts, open } = await madeWorld(t, "sqlite", 5_000);
    await parts.close();
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0", BREEZEWAY_LOG_LEVEL: "silent" };
    const first = await startChild("serve", environment);
    t.after(() => first.process.kill("SIGKILL"));
    const { controlSocket } = dataFolder(folder);
    await assert.rejects(callControl(controlSocket, "key rotate", {}, () => void first.process.kill("SIGKILL")));
    await first.ended;

    const second = await startChild("serve", environment);
    t.after(() => second.process.kill("SIGKILL"));
    // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the test looks at
    const { keys } = (await callControl(controlSocket, "key list", {})) as any;
    assert.ok(keys.length === 2 && keys[1].values > 0, JSON.stringify(keys));
    await callControl(controlSocket, "key rotate", {});
    assert.deepEqual(await callControl(controlSocket, "key prune", {}), { removed: [keys[1].keyId] });
    second.process.kill("SIGTERM");
    assert.equal(await second.ended, 0);
    // The service has sealed addresses meanwhile.
    assert.ok((await openAll(await open(), keyFile)) >= 5_000);
  });
});
