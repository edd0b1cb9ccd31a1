import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Lifetime } from "../set-up/lifetime.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";

/** A temporary folder for one demo. */
export function demoFolder(test: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-demo-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RunningDemo extends ChildService {
  readonly consoleLink: string;
  readonly simulatorUrl: string;
  /** The content of a token file of the demo. */
  secret(name: "demo-access-token" | "demo-sec-token"): string;
  /** A call of /v3 with the demo's access token. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of the response
  get(path: string): Promise<any>;
}

/** Opens the demo's link in a tab, and comes to the console. */
export async function enterConsole(tab: Page, { consoleLink, baseUrl }: RunningDemo): Promise<void> {
  await tab.goto(consoleLink);
  await tab.waitForURL(`${baseUrl}/console/simulator`);
}

/** Starts the demo in a child process, which ends with the test. */
export async function startDemo(
  test: Lifetime,
  folder: string,
  port = 0,
  settings = {},
  args: readonly string[] = [],
): Promise<RunningDemo> {
  const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: String(port), ...settings };
  const child = await startChild("demo", environment, { args });
  test.after(() => child.process.kill("SIGKILL"));
  const find = (pattern: RegExp) => pattern.exec(child.output)?.[1] ?? "";
  const secret = (name: string) => readFileSync(join(folder, name), "utf8");
  return {
    ...child,
    consoleLink: find(/Console .*\n +(\S+)/),
    simulatorUrl: find(/Simulator +(\S+)/),
    secret,
    async get(path) {
      const headers = { authorization: `Bearer ${secret("demo-access-token")}` };
      return (await fetch(`${child.baseUrl}/v3/${path}`, { headers })).json();
    },
  };
}
