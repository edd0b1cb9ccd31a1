import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { dailyForeignSuites, foreignSuites } from "./foreign-suites.ts";
import { longSuites } from "./long-suites.ts";

/**
 * What a command of package.json runs. `test` is what CI runs, `all` adds the long suites, all databases and all rounds,
 * `fast` is the part of `test` that `npm run check` runs, `foreign` runs other people's programs, `faults` the suites in
 * `test/faults`, `spread` every story on three nodes.
 */
export type Extent = "test" | "all" | "fast" | "foreign" | "faults" | "spread";

export interface Selection {
  readonly extent: Extent;
  /** Paths from the repository's root, those that take long first. */
  readonly files: readonly string[];
}

const suites: Readonly<Record<Extent, string>> = {
  test: "test/**/*.test.ts",
  all: "test/**/*.test.ts",
  fast: "test/{model,home,virtual-device,source-rules,federation,ecosystems,alerts,oauth}/**/*.test.ts",
  foreign: "test/**/*.test.ts",
  faults: "test/faults/**/*.test.ts",
  spread: "test/{stories,oauth,events,assistants}/**/*.test.ts",
};

/** These take long. They start first, so that a run does not end with one of them on its own. */
const longFiles = [
  /^test\/(browser|documents|isolation|simulate)\//,
  /^test\/(contracts\/store-postgres|demo\/demo|http\/(bad-input|documented-answers)|nodes\/three-nodes)/,
  /^test\/(sdk\/(flow|events)|store\/keys|verify\/verify)/,
  /^test\/stories\/(alerts|emergency|fan-requests|ecosystem-faults|home-assistant-days|indexes|kill|random|unlinking|v3-since)/,
];

/**
 * Left out of `npm run check`, each of these needs seconds of CPU: other people's clients, several nodes or PostgreSQL,
 * and files with many rounds.
 */
const slowForCheck = [
  /^test\/oauth\/(foreign-clients\/oauth4webapi|rotation|revocation-over-nodes|scopes|verification|repeated-decisions|suspension)/,
  /^test\/oauth\/bar\/(authorization|client-authentication|codes|guessing|login-and-consent|metadata-and-transport|passwords|pkce|resource-server|revocation|tokens)/,
  /^test\/federation\/(admission|claimed-links|containment|link-supervisor|renewal\.test|renewal-over-nodes)/,
  /^test\/ecosystems\/(google-device-access\/(account-state|feed)|home-assistant\/simulated-days)/,
  /^test\/virtual-device\/recorded-mirror/,
  /^test\/alerts\/(alert-bomb|alert-limits|deferred-matches|dry-run|pattern-thread|patterns|reaction)/,
];

/** Reads the arguments: an extent, and names or parts of paths that narrow it. */
export function selectFiles(args: readonly string[], root: string): Selection {
  const { extent, names } = readArguments(args);
  const isShort = extent === "test" || extent === "fast";
  const isLeftOut = (file: string) => isShort && (file in longSuites || file in foreignSuites);
  const isNamed = (file: string) => names.some((name) => file.includes(name));
  const files = globSync(suites[extent], { cwd: root })
    .filter((file) => extent === "faults" || !file.startsWith("test/faults/"))
    .filter((file) => extent !== "fast" || !slowForCheck.some((slow) => slow.test(file)))
    .filter((file) => extent !== "foreign" || file in foreignSuites || dailyForeignSuites.includes(file))
    .filter((file) => (names.length > 0 ? isNamed(file) : !isLeftOut(file)))
    .sort((a, b) => Number(isLong(b)) - Number(isLong(a)) || (mixed(a) < mixed(b) ? -1 : 1));
  return { extent, files };
}

/** Files of one folder often wait for the same kind of thing. In a mixed order others use the cores meanwhile. */
function mixed(file: string): string {
  return createHash("sha1").update(file).digest("hex");
}

function isLong(file: string): boolean {
  return longFiles.some((long) => long.test(file));
}

function readArguments(args: readonly string[]): { readonly extent: Extent; readonly names: readonly string[] } {
  const [first, second] = args;
  if (first === "faults" && second === "spread") return { extent: "spread", names: args.slice(2) };
  if (first === "faults" || first === "all" || first === "fast" || first === "foreign") {
    return { extent: first, names: args.slice(1) };
  }
  return { extent: "test", names: args };
}
