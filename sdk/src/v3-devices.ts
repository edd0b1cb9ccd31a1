import type { Attribute, Command, Device, DeviceSummary, PastChange, User, WrittenValue } from "./devices.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** Which attributes of a device to read. */
export interface DeviceQuestion extends CallOptions {
  /** Only these, in any published spelling; the answer uses your spelling. */
  readonly attributes?: readonly string[] | undefined;
  /** Only changes after this time (milliseconds), with null for blank attributes. Needs an access token. */
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
  type Listed = Omit<DeviceSummary, "typeId">;
  const devices: DeviceSummary[] = [];
  for await (const page of v3.pages<Listed>("/devices", "devices", { query: { deviceTypeName }, signal })) {
    devices.push(...page.map((device) => ({ ...device, typeId: undefined })));
  }
  return devices;
}

/** @internal */
export async function readDevice(v3: V3, deviceId: number, options: DeviceQuestion): Promise<Device> {
  const { attributes, since, signal } = options;
  type Body = Omit<Device, "confirmedTime"> & { readonly confirmedTime?: number };
  const body = await v3.call<Body>("GET", `/devices/${deviceId}`, {
    query: { attribute: attributes, since },
    signal,
  });
  return { ...body, confirmedTime: body.confirmedTime };
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
  type Body = { readonly commands: readonly Command[] };
  return (await v3.call<Body>("GET", `/devices/${deviceId}/commands`, { signal })).commands;
}

/** @internal */
export async function* readHistory(
  v3: V3,
  deviceId: number,
  options: HistoryQuestion,
): AsyncGenerator<PastChange, void> {
  const { attributes: attribute, from, to, signal } = options;
  const request = { query: { attribute, from, to }, signal };
  for await (const page of v3.pages<PastChange>(`/devices/${deviceId}/history`, "changes", request)) yield* page;
}

/** @internal */
export function listUsers(v3: V3, { signal }: CallOptions): Promise<readonly number[]> {
  return v3.call("GET", "/users", { signal });
}

/** @internal */
export function readUser(v3: V3, userId: number, { signal }: CallOptions): Promise<User> {
  return v3.call("GET", `/users/${userId}`, { signal });
}
