import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { startService } from "../../src/service/service.ts";
import { rows } from "../../verify/all-rows.ts";
import type { Report } from "../../verify/report/report.ts";
import type { Row } from "../../verify/row.ts";
import { type Administer, addTemporaryTenant, type TemporaryTenant } from "../../verify/temporary-tenant.ts";
import { type VerifyOptions, verify } from "../../verify/verify.ts";
import type { VerifyInput } from "../../verify/verify-input.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { storyConfig } from "../stories/world.ts";
import { breakingProxy, type Fault } from "./breaking-proxy.ts";
import type { BrokenDeployment } from "./broken-deployments.ts";

/** The service with a simulator, and verifications of it, each with its own temporary tenant. */
export async function verifyWorld(test: TestContext) {
  const folder = await newDataFolder("breezeway-verify-");
  const simulator = await startSimulator({ port: 0 });
  const report = startLogging("error");
  const realRuntime = processRuntime(report);
  let shiftMs = 0;
  const runtime = {
    ...realRuntime,
    nowMs: () => realRuntime.nowMs() + shiftMs,
    elapsedMs: () => realRuntime.elapsedMs() + shiftMs,
  };
  const config = { ...storyConfig(folder, simulator.url), allowPrivateWebhooks: true };
  const service = await startService(config, report, runtime, cheapPasswords);
  test.after(async () => {
    await service.stop();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const { administration, identity } = service.parts;
  const administer: Administer = (command, input) => administration.run(command, input, { service });

  const pause = async (ms: number) => {
    shiftMs += ms;
  };

  /** Runs only the row under test and its dependencies for each fault, on one shared tenant. */
  async function runEach(faults: readonly BrokenDeployment[], each: (fault: BrokenDeployment, report: Report) => void) {
    const temporary = await addTemporaryTenant(administer, { isInterrupted: () => false });
    for (const fault of faults) {
      const url = await breakingProxy(test, () => service.baseUrl, fault.breaking());
      const rows = withDependencies(fault.row);
      const defaults = { version: "test", say: () => undefined, signal: test.signal, rows, pause };
      each(fault, await verify(inputAt(url, temporary, fault.needsPatience), defaults));
    }
    assert.deepEqual(await temporary.remove(), []);
  }

  const inputAt = (url: string, { input }: TemporaryTenant, isPatient = false): VerifyInput => ({
    ...input,
    url,
    signsInByHand: false,
    simulator: { url: simulator.url, isAssumed: false },
    ecosystem: "nest",
    isPatient,
  });

  /** With `isPatient` the service's clock is moved where verify would wait. */
  async function run(
    { breaking, isPatient = false }: { readonly breaking?: Fault; readonly isPatient?: boolean } = {},
    options: Partial<VerifyOptions> = {},
  ): Promise<{ readonly report: Report; readonly input: TemporaryTenant["input"] }> {
    const url = breaking ? await breakingProxy(test, () => service.baseUrl, breaking) : service.baseUrl;
    const temporary = await addTemporaryTenant(administer, { isInterrupted: () => false });
    try {
      const defaults = { version: "test", say: () => undefined, signal: test.signal, pause };
      return {
        report: await verify(inputAt(url, temporary, isPatient), { ...defaults, ...options }),
        input: temporary.input,
      };
    } finally {
      assert.deepEqual(await temporary.remove(), []);
    }
  }

  return {
    service,
    simulator,
    administer,
    run,
    runEach,
    timePasses: pause,
    /** Everything that a verification could leave behind. */
    async leftovers() {
      const tenants = await identity.listTenants();
      return { tenants, accounts: simulator.accountIds(), faults: simulator.faults() };
    },
  };
}

function withDependencies(name: string): readonly Row[] {
  const names = new Set([name]);
  for (const { name: other, after, unless = [] } of [...rows].reverse()) {
    if (names.has(other)) for (const before of [...after, ...unless]) names.add(before);
  }
  return rows.filter((row) => names.has(row.name));
}

export const nothing = { tenants: [], accounts: [], faults: [] };

export function statuses({ rows }: Report): Record<string, string> {
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}
