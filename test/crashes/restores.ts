import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { addUsers } from "../../bench/users.ts";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { eventuallySlowly } from "../nodes/fleet.ts";
import { startChild } from "../stories/child-service.ts";
import { untilKnown } from "./crash-world.ts";
import { EventWitness } from "./event-witness.ts";
import { addLampOwners, historyOf, type LampOwner } from "./lamp-owner.ts";
import { LampWriter } from "./lamp-writer.ts";
import type { Environment, RestoreWay } from "./restore-ways.ts";
import { WebhookWitness } from "./webhook-witness.ts";

/** The number of writes before the backup, between backup and stop, and after the restore. */
const writes = 5;

/**
 * A service is backed up, continues to work, and is restored. Clients that resume with ids from before or after the
 * backup get a `resync`, and no id that they know is used for another event.
 */
export async function surviveRestore(
  test: TestContext,
  prepare: (folder: string) => Promise<RestoreWay>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-restore-"));
  const way = await prepare(folder);
  let service = { baseUrl: "", end: async () => undefined as number | string | undefined };
  const start = async (its: Environment) => {
    const child = await startChild("serve", { ...common, ...its });
    service = {
      baseUrl: child.baseUrl,
      end: async () => {
        child.process.kill("SIGTERM");
        return child.ended;
      },
    };
  };
  const clients: EventWitness[] = [];
  let writer: LampWriter | undefined;
  test.after(async () => {
    await writer?.stop();
    await Promise.all(clients.map((client) => client.stop()));
    await service.end();
    await way.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const owner = await lampOwner(way.environment);
  await start(way.environment);
  const atService = () => service.baseUrl;
  const known = new Map<string, string>();
  const early = new EventWitness(owner, atService, known);
  const late = new EventWitness(owner, atService, known);
  clients.push(early, late);
  const webhook = new WebhookWitness([owner], atService);
  await webhook.start(test);
  await Promise.all(clients.map((client) => client.start()));
  writer = new LampWriter(owner, atService);
  const writeSome = async () => {
    writer!.start();
    await writer!.acknowledges(writes);
    await writer!.stop();
  };
  const untilAllKnow = async (...clients: readonly [string, ReadonlySet<string>][]) => {
    const history = (await historyOf(service.baseUrl, owner))!;
    for (const [client, values] of clients) await untilKnown(test.signal, client, [history], [values]);
  };

  await writeSome();
  await untilAllKnow(["the early client", early.values], ["the webhook", webhook.valuesOf(owner)]);
  early.goAway();
  await way.backUp();
  await writeSome();
  await untilAllKnow(["the late client", late.values], ["the webhook", webhook.valuesOf(owner)]);
  late.goAway();
  assert.equal(await service.end(), 0);

  await start(await way.restore());
  await writeSome();
  for (const client of clients) client.comeBack();
  await eventuallySlowly(AbortSignal.any([test.signal, AbortSignal.timeout(resyncedWithinMs)]), () => {
    assert.ok(early.resyncs.length > 0, "the client with an id from before the backup got no resync");
    assert.ok(late.resyncs.length > 0, "the client with an id from after the backup got no resync");
  });
  await writeSome();
  await untilAllKnow(
    ["the early client", early.values],
    ["the late client", late.values],
    ["the webhook", webhook.valuesOf(owner)],
  );
  assert.deepEqual([...early.violations, ...late.violations, ...webhook.violations], []);
  const resyncs = [...early.resyncs, ...late.resyncs].join(", ");
  test.diagnostic(`${known.size} event ids, ${webhook.messages} webhook messages, none reused; resyncs: ${resyncs}`);
}

const common = { BREEZEWAY_PORT: "0", BREEZEWAY_LOG_LEVEL: "silent", BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" };
const resyncedWithinMs = 20_000;

async function lampOwner(environment: Environment): Promise<LampOwner> {
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  try {
    const { tenantId } = await parts.identity.addTenant({ name: "Restored" });
    const users = await parts.store.transaction((tx) => addUsers(tx, tenantId, 1));
    return (await addLampOwners(parts, users)).owners[0]!;
  } finally {
    await parts.close();
  }
}
