import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { addressContext, secretContext } from "../../src/events/webhooks/webhooks.ts";
import { credentialContext, tokenContext } from "../../src/federation/link-key.ts";
import { answerContext } from "../../src/idempotency/idempotent-writes.ts";
import type { NodeId, OwnerId, TenantId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { type OpenOptions, openParts, type Parts } from "../../src/service/parts.ts";
import { sealingFromFile } from "../../src/store/keys/key-file.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { storeFolderOf } from "../cli/made-folder.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import type { Deployment } from "../stories/world.ts";

/** All parts on a new store with so many sealed values. */
export async function madeWorld(t: TestContext, database: Deployment, values: number, cluster = sharedCluster) {
  const folder = await storeFolderOf(t);
  const databaseUrl = database === "postgres" ? await (await cluster()).createDatabase({ hasSchema: true }) : undefined;
  const config = readConfig({
    flags: {},
    environment: { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: databaseUrl },
  });
  const keyFile = join(folder, "breezeway.key");
  const report = startLogging("silent");
  const real = processRuntime(report);
  // Commands that wait for other nodes poll at once: the test itself waits for the nodes.
  const runtime = { ...real, after: (_: number, act: () => void) => real.after(1, act) };
  const open = async (options: OpenOptions = {}) => {
    const opened = await openParts(config, report, runtime, options);
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= opened.close());
    t.after(close);
    return { ...opened, close };
  };
  const parts = await open();
  await fill(parts, keyFile, values);
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  const run = (command: string, tell?: () => void, input = {}): Promise<any> =>
    parts.administration.run(command, input, { onProgress: tell });
  return { folder, databaseUrl, keyFile, parts, run, open };
}

/** One link with token and credential, one address of a webhook, one answer with a secret, and secrets of webhooks for the rest. */
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
      sealedToken: sealing.seal("c.token", tokenContext(userId, "nest")),
      sealedCredential: sealing.seal('{"accessToken":"c.token"}', credentialContext(userId, "nest")),
      state: "needs_reauth",
      reason: "",
      owner: "nobody" as NodeId,
      confirmedMs: 0,
      indexMap: "{}",
      notices: "{}",
      blindness: null,
    });
    const [sealedUrl, url] = [sealing.seal("https://a.example/", addressContext("w00001")), ""];
    const answered = { ownerId: userId, hash: "k" };
    const sealedAnswer = sealing.seal("an answer", answerContext(answered));
    await tx.idempotencyKeys.add(answered, { isSealed: true, text: sealedAnswer }, 60_000);
    await tx.idempotencyKeys.add({ ...answered, hash: "other" }, { isSealed: false, text: "in clear" }, 60_000);
    for (let i = 1; i < values - 3; i++) {
      const made = webhook(`w${String(i).padStart(5, "0")}`, tenantId, sealing.seal);
      await tx.webhooks.add(i === 1 ? { ...made, sealedUrl, url } : made);
    }
  });
}

export function webhook(id: string, tenantId: TenantId, seal: (text: string, place: string) => string) {
  const sealedSecret = seal(`secret of ${id}`, secretContext(id));
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
export async function openAll({ store }: Parts, keyFile: string): Promise<number> {
  const sealing = sealingFromFile(keyFile);
  const secrets = await store.read((tx) => tx.sealedValues.after(firstWebhook, 100_000));
  const addresses = await store.read((tx) => tx.sealedValues.after(secrets.at(-1)?.location, 100_000));
  assert.ok(addresses.length > 0);
  const answers = await store.read((tx) => tx.sealedValues.after(addresses.at(-1)?.location, 100_000));
  assert.equal(answers.length, 1);
  const values = [...secrets, ...addresses, ...answers];
  for (const { location, sealed } of values) {
    if (location.kind === "webhook")
      assert.equal(sealing.open(sealed, secretContext(location.id)), `secret of ${location.id}`);
    else if (location.kind === "webhook address") {
      assert.equal(sealing.open(sealed, addressContext(location.id)), "https://a.example/");
    } else if (location.kind === "answer") {
      assert.equal(sealing.open(sealed, answerContext({ ...location, hash: location.id })), "an answer");
    }
  }
  const [link] = await store.read((tx) => tx.sealedValues.after(undefined, 1));
  assert.ok(link?.location.kind === "link");
  assert.equal(sealing.open(link.sealed, tokenContext(link.location.userId, "nest")), "c.token");
  const [credential] = await store.read((tx) => tx.sealedValues.after(link.location, 1));
  assert.ok(credential?.location.kind === "link credential");
  const context = credentialContext(credential.location.userId, "nest");
  assert.equal(sealing.open(credential.sealed, context), '{"accessToken":"c.token"}');
  return values.length + 2;
}
