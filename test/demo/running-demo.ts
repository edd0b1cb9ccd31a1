import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChildService, startChild } from "../stories/child-service.ts";

/** Something with an end: a test, or a file of tests. */
export interface Ending {
  after(act: () => void): void;
}

/** For resources that several tests share; they end in reverse order. */
export function endingTogether(): Ending & { end(): void } {
  const acts: (() => void)[] = [];
  return {
    after: (act) => void acts.push(act),
    end() {
      for (const act of acts.splice(0).reverse()) act();
    },
  };
}

/** A temporary folder for one demo. */
export function demoFolder(test: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-demo-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RunningDemo extends ChildService {
  /** The link that opens the console. */
  readonly claim: string;
  readonly simulatorUrl: string;
  /** The content of a token file of the demo. */
  secret(name: "demo-access-token" | "demo-sec-token"): string;
  /** A call of /v3 with the demo's access token. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked at
  get(path: string): Promise<any>;
}

/** Starts the demo in a child process, which ends with the test. */
export async function startDemo(test: Ending, folder: string, port = 0, settings = {}): Promise<RunningDemo> {
  const child = await startChild("demo", { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: String(port), ...settings });
  test.after(() => child.process.kill("SIGKILL"));
  const find = (pattern: RegExp) => pattern.exec(child.output)?.[1] ?? "";
  const secret = (name: string) => readFileSync(join(folder, name), "utf8");
  return {
    ...child,
    claim: find(/Console +(\S+)/),
    simulatorUrl: find(/Simulator +(\S+)/),
    secret,
    async get(path) {
      const headers = { authorization: `Bearer ${secret("demo-access-token")}` };
      return (await fetch(`${child.baseUrl}/v3/${path}`, { headers })).json();
    },
  };
}
