import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChildService, startChild } from "../stories/child-service.ts";

/** What ends: a test, or a file of them. */
export interface Ending {
  after(act: () => void): void;
}

/** For what several tests share: the last thing made ends first. */
export function endingTogether(): Ending & { end(): void } {
  const acts: (() => void)[] = [];
  return {
    after: (act) => void acts.push(act),
    end() {
      for (const act of acts.splice(0).reverse()) act();
    },
  };
}

/** A folder for one demo, gone with the test. */
export function demoFolder(test: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-demo-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RunningDemo extends ChildService {
  /** The link that opens the console. */
  readonly claim: string;
  readonly simulatorUrl: string;
  /** What a file of the demo holds. */
  secret(name: "demo-access-token" | "demo-sec-token"): string;
  /** A call of /v3 with the token that lies ready. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked at
  get(path: string): Promise<any>;
}

/** The demo in a process of its own, killed with the test. */
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
