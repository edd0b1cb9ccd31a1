import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import type { Config } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { startService } from "../../src/service/service.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { storyConfig } from "../stories/world.ts";
import { OperatorBrowser } from "./operator-browser.ts";

export const password = "correct horse";

/** A service without operators, with a clock that the test moves. */
export async function operatorWorld(t: TestContext, databaseUrl?: string, more: Partial<Config> = {}) {
  const folder = await newDataFolder("breezeway-operators-");
  const logged: string[] = [];
  const report = startLogging("debug", { write: (line) => void logged.push(line) });
  const clock = { aheadMs: 0 };
  const real = processRuntime(report);
  const runtime = { ...real, nowMs: () => real.nowMs() + clock.aheadMs };
  const base = { ...storyConfig(folder, "http://127.0.0.1:9", databaseUrl), allowPrivateWebhooks: true };
  const config = { ...base, ...more };
  const service = await startService(config, report, runtime, cheapPasswords);
  t.after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const { administration } = service.parts;
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer
  const run = (command: string, input: object = {}): Promise<any> =>
    administration.run(command, input, { service: { baseUrl: service.baseUrl } });
  const newBrowser = () => new OperatorBrowser(service.baseUrl);
  return {
    service,
    folder,
    run,
    clock,
    logged,
    newBrowser,
    /** A browser in which the first owner is signed in. */
    async owner(name = "ada") {
      const { path } = await run("operator claim");
      const browser = newBrowser();
      const answer = await browser.send(path, { name, password, tenant: "Acme" });
      assert.equal(answer.status, 303, await answer.text());
      return browser;
    },
    /** A browser in which an invited operator is signed in. */
    async invited(name: string, invitation: object) {
      const { path } = await run("operator invite", { name, ...invitation });
      const browser = newBrowser();
      const answer = await browser.send(path, { password });
      assert.equal(answer.status, 303, await answer.text());
      return browser;
    },
    /** Calls /admin/v1 with a token. */
    async callWith(token: string, method: string, path: string, json?: object) {
      const answer = await fetch(`${service.baseUrl}/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(json !== undefined && { "content-type": "application/json" }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: each call has its own answer
      return { status: answer.status, body: (await answer.json()) as any };
    },
  };
}
