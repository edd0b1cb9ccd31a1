import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { hash, verify } from "@node-rs/argon2";
import { type IdentityParts, identityOn } from "../../src/identity/identity.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

export const password = "correct horse";

/** Identity on a new store, with a clock that the test moves, a count of hash runs, and the recorded callbacks. */
export async function madeIdentity(t: TestContext, options: Pick<IdentityParts, "failureLimits" | "passwords"> = {}) {
  const folder = await newDataFolder("breezeway-identity-");
  const clock = { nowMs: Date.UTC(2026, 0, 1) };
  const nowMs = () => clock.nowMs;
  const store = await openSqlite({ folder, nowMs });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const hashRuns: { count: number; whileComparing?: () => Promise<unknown> } = { count: 0 };
  const argon2 = {
    hash: (...given: Parameters<typeof hash>) => {
      hashRuns.count++;
      return hash(...given);
    },
    verify: async (...given: Parameters<typeof verify>) => {
      hashRuns.count++;
      await hashRuns.whileComparing?.();
      return verify(...given);
    },
  };
  const told: { readonly grants: string[]; readonly devices: DeviceId[] } = { grants: [], devices: [] };
  const identity = identityOn({
    store,
    elapsedMs: nowMs,
    report: { debug() {}, info() {}, warn() {}, error() {} },
    grantsEnded: (ids) => void told.grants.push(...ids),
    devicesRemoved: (ids) => void told.devices.push(...ids),
    suspended: () => undefined,
    // The same on every machine, whatever the number of its cores.
    passwords: { argon2, atOnce: 2, ...cheapPasswords.passwords },
    ...options,
  });
  return { identity, store, clock, hashRuns, told };
}

/** Identity with tenant 7 and its user alice. */
export async function madeAlice(t: TestContext, options: Pick<IdentityParts, "failureLimits" | "passwords"> = {}) {
  const made = await madeIdentity(t, options);
  const { tenantId } = await made.identity.addTenant({ name: "Acme", appId: 7 });
  const userId = await made.identity.addUser({ tenant: "Acme", name: "alice", password, isAdmin: false });
  made.hashRuns.count = 0;
  const login = (change: Partial<Parameters<typeof made.identity.login>[0]> = {}) =>
    made.identity.login({ name: "alice", password, appId: "7", source: "192.0.2.1", ...change });
  return { ...made, tenantId, userId, login };
}
