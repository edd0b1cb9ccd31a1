import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import { deviceReading } from "../../src/devices/read.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { type PlatformAnswer, platformCalls } from "../../src/outlets/platform/calls.ts";
import type { Logger } from "../../src/runtime/runtime.ts";
import { madeAlice } from "../identity/made-identity.ts";
import { type ReadElement, readStrictly } from "./strict-xml.ts";

export type Reported = { readonly level: keyof Logger; readonly fields: object; readonly sentence: string };

/** The platform calls on their own store, with alice signed in. `reported` collects log lines. */
export async function madePlatform(t: TestContext) {
  const alice = await madeAlice(t);
  const { identity, store, login } = alice;
  const { secToken } = await login();
  const reported: Reported[] = [];
  const report = collecting(reported);

  const states = new DeviceStates(store);
  const alerts = alertsOn({ store });
  const commit = commitOn({
    store,
    reactions: [alerts.react],
    committed: (commits) => {
      states.apply(commits);
      alerts.afterCommit(commits);
    },
    report,
  });
  const absent = new Set<DeviceId>();
  const calls = platformCalls({
    identity,
    devices: { ...deviceReading(store, states), ...deviceWriting(store, commit) },
    alerts,
    federation: {
      freshness: async (_userId, deviceId) => ({
        isPresent: !absent.has(deviceId),
        isStale: absent.has(deviceId),
        confirmedTimeMs: null,
      }),
    },
    onLimitReached: () => undefined,
  });

  const addDevice = (name: string, isVirtual = false, userId: UserId = alice.userId) =>
    store.transaction((tx) =>
      tx.devices.add({ userId, name, isVirtual, typeName: isVirtual ? "EcosystemAccount" : "Lamp" }),
    );
  const write = (deviceId: DeviceId, values: Readonly<Record<string, string | null>>, keys = Object.keys(values)) =>
    commit({
      userId: alice.userId,
      cause: { by: "ecosystem" },
      updates: [
        {
          deviceId,
          changes: keys.map((key) => ({ key: /^\d+$/.test(key) ? Number(key) : key, value: values[key] ?? null })),
        },
      ],
    });
  const call = async (operation: string, parameters: Readonly<Record<string, string>>) => {
    const answer = await calls.call(operation, Object.entries(parameters), "192.0.2.1");
    return { status: answer.status, root: readStrictly(await xmlOf(answer)) };
  };
  return { ...alice, calls, call, secToken, addDevice, write, absent, reported };
}

/** The whole document, in slices or not. */
export async function xmlOf(answer: PlatformAnswer): Promise<string> {
  return "slices" in answer ? (await Array.fromAsync(answer.slices)).join("") : answer.xml;
}

export function collecting(reported: Reported[]): Logger {
  const at = (level: keyof Logger) => (fields: object, sentence: string) => {
    reported.push({ level, fields, sentence });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The texts of an element's children by name. */
export function textsOf(element: ReadElement): Record<string, string> {
  return Object.fromEntries(element.children.map(({ name, text }) => [name, text]));
}

export function assertFault(
  answer: { readonly status: number; readonly root: ReadElement },
  code: number,
  text?: string,
) {
  assert.equal(answer.status, 500);
  assert.equal(answer.root.name, "ns1:requestFault");
  assert.deepEqual(
    answer.root.children.map(({ name }) => name),
    ["errorCode", "errorMsg"],
  );
  const { errorCode, errorMsg } = textsOf(answer.root);
  assert.equal(errorCode, String(code));
  if (text !== undefined) assert.equal(errorMsg, text);
}
