import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Google, type GoogleOptions, startGoogle } from "../../../simulator/google-device-access/simulator.ts";
import { readConfiguration } from "../../../src/ecosystems/google-device-access/configuration.ts";
import {
  type GoogleOptions as ConnectorOptions,
  googleConnector,
} from "../../../src/ecosystems/google-device-access/connector.ts";
import type { GoogleLimits } from "../../../src/ecosystems/google-device-access/limits.ts";
import { processRuntime } from "../../../src/runtime/process/process-runtime.ts";
import type { Logger, Runtime } from "../../../src/runtime/runtime.ts";
import { MemoryFeed } from "./memory-feed.ts";

/** Limits that no test reaches. */
export const generous: GoogleLimits = {
  lists: [{ calls: 1_000, perMs: 1_000 }],
  commands: [{ calls: 1_000, perMs: 1_000 }],
  thermostat: [{ calls: 1_000, perMs: 1_000 }],
};

const ignore = () => undefined;
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A simulated Google whose limits no test reaches, and which ends with the test. */
export async function startedGoogle(t: TestContext, options?: GoogleOptions): Promise<Google> {
  const google = await startGoogle(options);
  google.rates.limits = {
    list: generous.lists,
    get: generous.lists,
    execute: generous.commands,
    device: generous.thermostat,
  };
  google.subscription.holdMs = 1_000;
  t.after(() => google.stop());
  return google;
}

/** The connector and its feed, which pulls until the test ends. */
export async function startedConnector(t: TestContext, google: Google, options: Partial<ConnectorOptions> = {}) {
  const configuration = readConfiguration("google", google.settings(await writeKey(t, google)));
  const runtime = hurried(processRuntime(silent));
  const connector = googleConnector({ configuration, runtime, limits: generous, answerLimitMs: 300_000, ...options });
  const feed = new MemoryFeed(connector);
  feed.start();
  t.after(() => feed.stop());
  return { connector, feed, configuration };
}

/** Pauses take a tenth of their time. */
function hurried(runtime: Runtime): Runtime {
  return { ...runtime, after: (delayMs, act) => runtime.after(delayMs / 10, act) };
}

/** The key file of the simulated service account, removed after the test. */
export async function writeKey(t: TestContext, google: Google): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "google-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "service-account.json");
  await writeFile(file, google.serviceAccountKey());
  return file;
}
