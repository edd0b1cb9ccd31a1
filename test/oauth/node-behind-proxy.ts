import type { TestContext } from "node:test";
import { startLogging } from "../../src/runtime/process/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { type FaultProxy, startFaultProxy } from "../set-up/fault-proxy.ts";
import { eventually } from "../stories/world.ts";
import type { OAuthWorld } from "./oauth-world.ts";

/** Another node on the world's database, which reaches it only through the proxy. */
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
    // What is stuck in the middle of a word is let go; a node stops in good order only while it has its store.
    proxy.drop();
    await eventually(AbortSignal.timeout(30_000), async () => void (await node.parts.store.health()));
    await node.stop();
    await proxy.stop();
  });
  return { node, proxy };
}
