import { type Config, ConfigurationError } from "../config/config.ts";
import { isOnLoopback } from "../config/loopback.ts";
import type { Identity } from "../identity/identity.ts";
import type { OpenStore } from "../store/seam.ts";

/**
 * Refuses to serve a store with the demo's user to other machines: the password of this user is public (demo/access.ts).
 */
export async function refuseRemoteDemo(
  config: Config,
  { store, identity }: { readonly store: OpenStore; readonly identity: Identity },
): Promise<void> {
  if (isOnLoopback(config)) return;
  const demoUser = await store.read((tx) => tx.settings.get("demo_user"));
  if (demoUser === undefined || !(await identity.listUsers()).some(({ userId }) => String(userId) === demoUser)) return;
  throw new ConfigurationError([
    `BREEZEWAY_DATA: ${config.dataFolder} holds the demo, whose password is known. Choose another folder, or remove the demo's user with breezeway user remove --user ${demoUser}; until then it is served on loopback only`,
  ]);
}
