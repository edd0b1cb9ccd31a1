import type { TestContext } from "node:test";
import { startLogging } from "../../src/runtime/process/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { type FaultProxy, startFaultProxy } from "../set-up/fault-proxy.ts";
import { eventually } from "../stories/world.ts";
import type { OAuthWorld } from "./oauth-world.ts";

/** Another node on the same database, which it reaches through a proxy. */
export async function nodeBehindProxy(
  test: TestContext,
  world: OAuthWorld,
): Promise<{ readonly node: Service; readonly proxy: FaultProxy }> {
  const proxy = await startFaultProxy(world.databaseUrl!);
  const databaseUrl = new URL(world.databaseUrl!);
  databaseUrl.port = new URL(proxy.url).port;
  const node = await startService({ ...world.config, databaseUrl: String(databaseUrl) }, startLogging("silent"));
  test.after(async () => {
    proxy.mood = "open";
    // The proxy is opened again: a node can stop cleanly only while it reaches its store.
    proxy.drop();
    await eventually(AbortSignal.timeout(30_000), async () => void (await node.parts.store.health()));
    await node.stop();
    await proxy.stop();
  });
  return { node, proxy };
}
