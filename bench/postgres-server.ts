import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";

/** /proc counts CPU time in ticks of a hundredth of a second. */
const tickUs = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly ownUs: number;
  /** Of children that have ended. */
  readonly endedUs: number;
}

/** The CPU time of a PostgreSQL server in microseconds: of all its processes, also of those that have ended. */
export async function serverCpu(client: Pick<pg.Client, "query">): Promise<() => number> {
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  const server = timesOf(rows[0].pid)!.parent;
  return () => {
    const { ownUs, endedUs } = timesOf(server)!;
    return childrenOf(server).reduce((sum, pid) => sum + (timesOf(pid)?.ownUs ?? 0), ownUs + endedUs);
  };
}

function childrenOf(parent: number): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => timesOf(pid)?.parent === parent);
}

/** Undefined when the process has ended. */
function timesOf(pid: number): ProcessTimes | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The second field is the name in brackets; it may hold spaces.
  const fields = text
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
  const us = (index: number) => (fields[index]! + fields[index + 1]!) * tickUs;
  return { parent: fields[1]!, ownUs: us(11), endedUs: us(13) };
}
