import type { Attribute, Command, Device, DeviceSummary, PastChange, User, WrittenValue } from "./devices.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** Which attributes of a device to read. */
export interface DeviceQuestion extends CallOptions {
  /** Only these, in any published spelling; the answer uses yours. */
  readonly attributes?: readonly string[] | undefined;
  /** Only what changed after this time (milliseconds), with null for what turned blank. Needs an access token. */
  readonly since?: number | undefined;
}

/** Which part of a device's past to read. */
export interface HistoryQuestion extends CallOptions {
  readonly attributes?: readonly string[] | undefined;
  /** From this time on (milliseconds), included. */
  readonly from?: number | undefined;
  /** Up to this time, excluded. */
  readonly to?: number | undefined;
}

/** @internal */
export async function listDevices(
  v3: V3,
  deviceTypeName: string | undefined,
  { signal }: CallOptions,
): Promise<readonly DeviceSummary[]> {
  type Page = { readonly devices: readonly Omit<DeviceSummary, "typeId">[]; readonly cursor?: string };
  const devices: DeviceSummary[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page = await v3.call("GET", "/devices", { query: { deviceTypeName, cursor }, signal });
    devices.push(...page.devices.map((device) => ({ ...device, typeId: undefined })));
    if (page.cursor === undefined) return devices;
    cursor = page.cursor;
  }
}

/** @internal */
export async function readDevice(v3: V3, deviceId: number, question: DeviceQuestion): Promise<Device> {
  const { attributes, since, signal } = question;
  type Shown = Omit<Device, "confirmedTime"> & { readonly confirmedTime?: number };
  const shown = await v3.call<Shown>("GET", `/devices/${deviceId}`, {
    query: { attribute: attributes, since },
    signal,
  });
  return { ...shown, confirmedTime: shown.confirmedTime };
}

/** @internal */
export async function readAttributes(
  v3: V3,
  deviceId: number,
  names: readonly string[],
  { signal }: CallOptions,
): Promise<Readonly<Record<string, Attribute>>> {
  return (await readDevice(v3, deviceId, { attributes: names, signal })).attributes;
}

/** @internal */
export async function writeAttributes(
  v3: V3,
  deviceId: number,
  values: Readonly<Record<string, WrittenValue>>,
  options: WriteOptions,
): Promise<void> {
  await v3.call("PUT", `/devices/${deviceId}`, { json: values, ...options });
}

/** @internal */
export async function readCommands(v3: V3, deviceId: number, { signal }: CallOptions): Promise<readonly Command[]> {
  type Answered = { readonly commands: readonly Command[] };
  return (await v3.call<Answered>("GET", `/devices/${deviceId}/commands`, { signal })).commands;
}

/**
 * Page after page, as they are taken.
 * @internal
 */
export async function* readHistory(
  v3: V3,
  deviceId: number,
  question: HistoryQuestion,
): AsyncGenerator<PastChange, void> {
  const { attributes: attribute, from, to, signal } = question;
  type Page = { readonly changes: readonly PastChange[]; readonly cursor?: string };
  for (let cursor: string | undefined; ; ) {
    const query = { attribute, from, to, cursor };
    const page: Page = await v3.call("GET", `/devices/${deviceId}/history`, { query, signal });
    yield* page.changes;
    if (page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

/** @internal */
export function listUsers(v3: V3, { signal }: CallOptions): Promise<readonly number[]> {
  return v3.call("GET", "/users", { signal });
}

/** @internal */
export function readUser(v3: V3, userId: number, { signal }: CallOptions): Promise<User> {
  return v3.call("GET", `/users/${userId}`, { signal });
}
