import { setTimeout as sleep } from "node:timers/promises";
import { callControl } from "../src/cli/administration/control-socket.ts";
import { dataFolder } from "../src/store/disk/data-folder.ts";
import type { PreparedFolder } from "./prepared-folder.ts";

const longestWaitMs = 120_000;

/** Resolves when the service that runs on the folder reports this many links, all of them in this state. */
export async function untilLinksAre({ path }: PreparedFolder, count: number, state: "live" | "waiting"): Promise<void> {
  const deadlineMs = performance.now() + longestWaitMs;
  for (;;) {
    const { links } = (await callControl(dataFolder(path).controlSocket, "status", {})) as {
      links: Readonly<Record<string, number>>;
    };
    if (links[state] === count || (count === 0 && Object.keys(links).length === 0)) return;
    if (performance.now() > deadlineMs) throw new Error(`not all are ${state}: ${JSON.stringify(links)}`);
    await sleep(250);
  }
}
