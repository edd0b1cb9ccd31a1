import assert from "node:assert/strict";
import type { DeviceId } from "../../src/model/ids.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import type { Guest } from "./guests.ts";

/** The values of the two attributes of one writer; null means erased. */
export type Shown = readonly [first: string | null, second: string | null];

/** The attributes to read and their device. `sinceMs` is before the last write to the first attribute. */
export interface Question {
  readonly guest: Guest;
  readonly deviceId: DeviceId;
  readonly names: readonly [first: string, second: string];
  readonly sinceMs: number;
}

export interface ReadResult {
  /** Undefined for an attribute that this call did not read. */
  readonly shown: readonly [first: string | null | undefined, second: string | null | undefined];
  /** The largest time in the answer. */
  readonly latestMs: number;
}

/** Reads at a node with one kind of call; undefined when the node answered with an error. */
export type WayToRead = (baseUrl: string, question: Question) => Promise<ReadResult | undefined>;

export const waysToRead: Readonly<Record<string, WayToRead>> = {
  "GET /v3/devices/{id}": async (baseUrl, { guest, deviceId, names }) => {
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}`);
    return body && readResult(body.attributes, names, null);
  },

  "the same for some attributes": async (baseUrl, { guest, deviceId, names }) => {
    const query = new URLSearchParams(names.map((name) => ["attribute", name]));
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}?${query}`);
    return body && readResult(body.attributes, names, null);
  },

  "the same since a time": async (baseUrl, { guest, deviceId, names, sinceMs }) => {
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}?since=${sinceMs}`);
    // Unchanged attributes are not in the answer.
    return body && readResult(body.attributes, names, undefined);
  },

  history: async (baseUrl, { guest, deviceId, names: [name], sinceMs }) => {
    const query = new URLSearchParams({ attribute: name, from: String(sinceMs + 1) });
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}/history?${query}`);
    const last = body?.changes.at(-1);
    return body && { shown: [last?.value, undefined], latestMs: last?.updateTime ?? 0 };
  },

  getDeviceAttributesWithValues: async (baseUrl, { guest, deviceId, names }) => {
    const answer = await call(baseUrl, guest, "getDeviceAttributesWithValues", { devId: String(deviceId) });
    if (!answer) return undefined;
    const attributes: { name: string; value: string; updTime: string }[] = answer.attrList ?? [];
    return {
      shown: both(names, (name) => attributes.find((one) => one.name === name)?.value ?? null),
      latestMs: Math.max(0, ...attributes.map(({ updTime }) => Number(updTime))),
    };
  },

  getDeviceAttribute: async (baseUrl, { guest, deviceId, names: [name] }) => {
    const answer = await call(baseUrl, guest, "getDeviceAttribute", { devId: String(deviceId), name });
    return answer && { shown: [answer.value || null, undefined], latestMs: Number(answer.updTime) };
  },
};

function both<Value>([first, second]: Question["names"], of: (name: string) => Value): readonly [Value, Value] {
  return [of(first), of(second)];
}

/** `absent`: the meaning of a missing attribute. */
function readResult(
  attributes: Readonly<Record<string, { readonly value: string | null; readonly updateTime: number }>>,
  names: Question["names"],
  absent: null | undefined,
): ReadResult {
  const latestMs = Math.max(0, ...Object.values(attributes).map(({ updateTime }) => updateTime));
  return { shown: both(names, (name) => (attributes[name] ? attributes[name].value : absent)), latestMs };
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
async function get(baseUrl: string, { accessToken }: Guest, path: string): Promise<any> {
  const answer = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${accessToken}` } });
  const text = await answer.text();
  if (answer.status === 503) return undefined;
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

/** In platform calls an unavailable store is fault 199. */
async function call(baseUrl: string, { secToken }: Guest, operation: string, parameters: Record<string, string>) {
  const answer = await new PlatformClient(() => baseUrl).call(operation, { secToken, ...parameters });
  if (answer.requestFault?.errorCode === "199") return undefined;
  const told = answer[`${operation}Response`];
  assert.ok(told, JSON.stringify(answer));
  return told;
}
