import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AddressTaken, type Simulator, startSimulator } from "../simulator/simulator.ts";
import { callControl } from "../src/cli/control-socket.ts";
import { readConfig } from "../src/config.ts";
import { startLogging } from "../src/logging.ts";
import type { UserId } from "../src/model/ids.ts";
import { openParts } from "../src/service.ts";
import { dataFolder } from "../src/store/data-folder.ts";

const house = { structures: [{ thermostats: 2, alarms: 3 }] };
const linkedAtOnce = 50;
const longestWaitMs = 120_000;

/** A data folder with so many users, each linked to an account of the simulator, and no service on it yet. */
export interface LinkedAccounts extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>;
  readonly simulator: Simulator;
  /** Resolves when the service that runs on the folder says that all links are in that state. */
  untilAllAre(state: "live" | "waiting"): Promise<void>;
}

export async function linkedAccounts(count: number): Promise<LinkedAccounts> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-bench-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  const simulator = await onQuietPort();
  const settings = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  await using finishing = new AsyncDisposableStack();
  finishing.defer(() => simulator.stop());
  finishing.defer(async () => {
    removeFolder();
    process.off("exit", removeFolder);
  });
  await link(count, settings, simulator);
  const kept = finishing.move();
  return {
    settings,
    simulator,
    async untilAllAre(state) {
      const deadlineMs = performance.now() + longestWaitMs;
      for (;;) {
        const { links } = (await callControl(dataFolder(folder).controlSocket, "status", {})) as {
          links: Readonly<Record<string, number>>;
        };
        if (links[state] === count || (count === 0 && Object.keys(links).length === 0)) return;
        if (performance.now() > deadlineMs) throw new Error(`not all are ${state}: ${JSON.stringify(links)}`);
        await sleep(250);
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/**
 * Through the federation itself, which proves each token against the simulator. Only the users' password hashes are
 * ready-made: a thousand argon2 runs would take longer than the measurement.
 */
async function link(count: number, settings: Readonly<Record<string, string>>, simulator: Simulator): Promise<void> {
  const parts = await openParts(readConfig({ flags: {}, environment: settings }), startLogging("warn"));
  try {
    const { tenantId } = await parts.identity.addTenant({ name: "Bench" });
    const users = await parts.store.transaction(async (tx) => {
      const ids: UserId[] = [];
      for (let i = 1; i <= count; i++) {
        const user = { tenantId, name: `user${i}`, passwordHash: "nobody signs in", isAdmin: false };
        ids.push((await tx.users.add(user))!);
      }
      return ids;
    });
    const waiting = users.values();
    const linkSome = async () => {
      for (const userId of waiting) {
        const { token } = simulator.addAccount({ seed: userId, ...house });
        await parts.federation.link(userId, "nest", token);
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
  } finally {
    await parts.federation.stop();
    await parts.close();
  }
}

/** Below the range from which outgoing connections take their ports: when it is closed, nobody else answers there. */
async function onQuietPort(): Promise<Simulator> {
  for (let port = 20_000 + (process.pid % 5_000); ; port++) {
    try {
      return await startSimulator({ port });
    } catch (error) {
      if (!(error instanceof AddressTaken)) throw error;
    }
  }
}
