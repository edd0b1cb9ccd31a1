import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import type { OpenStore } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

export const noonMs = Date.UTC(2026, 0, 1, 12);

/** A store whose clock the test moves. */
export async function clockedStore(t: TestContext): Promise<{ store: OpenStore; clock: { nowMs: number } }> {
  const clock = { nowMs: noonMs };
  const folder = await newDataFolder("breezeway-own-");
  const store = await openSqlite({ folder, nowMs: () => clock.nowMs });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store, clock };
}
