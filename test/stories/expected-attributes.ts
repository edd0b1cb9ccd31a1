import assert from "node:assert/strict";
import { publishedAttributes } from "../samples/published-attributes.ts";
import type { ShownDevice } from "./platform-client.ts";

// biome-ignore lint/suspicious/noExplicitAny: an account document from outside has no type of ours
type Document = any;

interface LargeStrings {
  readonly labels: Readonly<Record<string, string>>;
  readonly identifiers: Readonly<Record<string, readonly string[]>>;
}

/**
 * Asserts what a virtual device must show for an account document, derived only from the tables of the interface and
 * the document. X comes from largestrings, Y from the shown `device_id` attributes, as a client finds them. Every index
 * is used once, and every device within the limits is present.
 */
export function assertMirrors(shown: ShownDevice, document: Document, largeStrings: LargeStrings): void {
  const structureAt = new Map<string, string>();
  const deviceAt = new Map<string, string>();
  for (const [id, entry] of Object.entries(largeStrings.identifiers)) {
    if (entry.length === 1) structureAt.set(entry[0]!, id);
  }
  for (const [name, { value }] of shown.attributes) {
    const prefix = /^(d\.structures\[\d\]\.d\.\w+\[\d+\])\.device_id$/.exec(name)?.[1];
    if (prefix) deviceAt.set(prefix, value);
  }
  assert.equal(new Set(deviceAt.values()).size, deviceAt.size, "a device has two indexes");
  assertAllWithinLimits(document, structureAt, deviceAt);

  const expected: Record<string, string> = {};
  for (const { name } of publishedAttributes()) {
    const value = expectedValue(name, document, structureAt, deviceAt);
    if (value !== undefined) expected[name] = value;
  }
  const actual = Object.fromEntries([...shown.attributes].map(([name, { value }]) => [name, value]));
  assert.deepEqual(actual, expected);
}

function expectedValue(
  name: string,
  document: Document,
  structureAt: ReadonlyMap<string, string>,
  deviceAt: ReadonlyMap<string, string>,
): string | undefined {
  const structures = Object.keys(document.structures ?? {});
  if (name === "o.totalStructures") return structures.length > 0 ? String(Math.min(2, structures.length)) : undefined;
  const structureId = structureAt.get(/structures\[(\d)\]/.exec(name)![1]!);
  if (structureId === undefined) return undefined;
  const structure = document.structures[structureId];
  const [, group, field] = /^o\.structures\[\d\]\.(\w+)\.(\w+)$/.exec(name) ?? [];
  if (group && field) return summary(group, field, document, structureId);
  const structureField = /^d\.structures\[\d\]\.a\.(\w+)$/.exec(name)?.[1];
  if (structureField) return text(structureField === "structure_id" ? structureId : structure[structureField]);
  const [, prefix, kind, deviceField] = /^(d\.structures\[\d\]\.d\.(\w+)\[\d+\])\.(.+)$/.exec(name)!;
  const deviceId = deviceAt.get(prefix!);
  if (deviceId === undefined || deviceField!.endsWith("requestWrite")) return undefined;
  const device = document.devices[kind === "thermostats" ? "thermostats" : "smoke_co_alarms"][deviceId];
  assert.ok(device, `${prefix} shows a device that the account does not have`);
  assert.equal(device.structure_id, structureId, `${prefix} shows a device of another structure`);
  return text(device[deviceField!]);
}

function summary(group: string, field: string, document: Document, structureId: string): string | undefined {
  const alarms = devicesOf(document, "smoke_co_alarms", structureId);
  if (group === "totals") {
    const isThermostats = field === "thermostats";
    const count = isThermostats ? devicesOf(document, "thermostats", structureId).length : alarms.length;
    return String(Math.min(count, isThermostats ? 20 : 18));
  }
  const mentionsAlarms =
    document.devices?.smoke_co_alarms !== undefined ||
    Object.values<Document>(document.structures).some((one) => one.smoke_co_alarms !== undefined);
  if (!mentionsAlarms) return undefined;
  const state = group === "warnings" ? "warning" : "emergency";
  const fields = { all: ["smoke_alarm_state", "co_alarm_state"], smoke: ["smoke_alarm_state"], CO: ["co_alarm_state"] };
  const fieldsOfGroup = fields[field as keyof typeof fields];
  return String(alarms.some((alarm) => fieldsOfGroup.some((one) => alarm[one] === state)));
}

function assertAllWithinLimits(
  document: Document,
  structureAt: ReadonlyMap<string, string>,
  deviceAt: ReadonlyMap<string, string>,
): void {
  assert.equal(structureAt.size, Math.min(2, Object.keys(document.structures ?? {}).length));
  for (const [x, structureId] of structureAt) {
    for (const [kind, key, limit] of [
      ["thermostats", "thermostats", 20],
      ["smokeCoAlarms", "smoke_co_alarms", 18],
    ] as const) {
      const shown = [...deviceAt.keys()].filter((prefix) => prefix.startsWith(`d.structures[${x}].d.${kind}[`)).length;
      assert.equal(shown, Math.min(limit, devicesOf(document, key, structureId).length), `${kind} of structure ${x}`);
    }
  }
}

function devicesOf(document: Document, kind: string, structureId: string): Document[] {
  return Object.values<Document>(document.devices?.[kind] ?? {}).filter((one) => one.structure_id === structureId);
}

function text(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}
