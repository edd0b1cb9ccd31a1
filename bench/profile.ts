import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const shownFunctions = 40;

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The functions that used most of the CPU in the profiles of a folder, callees excluded, as lines for people. */
export function topFunctions(folder: string): string {
  const used = new Map<string, number>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Profile;
    const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    for (const [index, id] of samples.entries()) {
      const name = names.get(id)!;
      if (name === "(idle)") continue;
      used.set(name, (used.get(name) ?? 0) + timeDeltas[index]!);
    }
  }
  const sum = [...used.values()].reduce((a, b) => a + b, 0);
  const top = [...used].toSorted(([, a], [, b]) => b - a).slice(0, shownFunctions);
  const lines = top.map(([name, us]) => `${((100 * us) / sum).toFixed(1).padStart(5)} %  ${name}`);
  return [`${(sum / 1e6).toFixed(1)} s of CPU, by function without what it calls:`, ...lines].join("\n");
}

function nameOf({ functionName, url, lineNumber }: Profile["nodes"][number]["callFrame"]): string {
  if (url === "") return functionName;
  const place = url.startsWith("file://") ? relative(root, new URL(url).pathname) : url;
  return `${functionName || "(anonymous)"} ${place}:${lineNumber + 1}`;
}
