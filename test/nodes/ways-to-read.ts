import assert from "node:assert/strict";
import type { DeviceId } from "../../src/model/ids.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import type { Guest } from "./guests.ts";

/** The two attributes that one writer alone writes, as somebody shows them; null is blank. */
export type Shown = readonly [first: string | null, second: string | null];

/** What is asked: which attributes of which device; `sinceMs` is before the last write to the first of them. */
export interface Question {
  readonly guest: Guest;
  readonly deviceId: DeviceId;
  readonly names: readonly [first: string, second: string];
  readonly sinceMs: number;
}

export interface Told {
  /** Undefined for one that this way didn't ask about. */
  readonly shown: readonly [first: string | null | undefined, second: string | null | undefined];
  /** The largest of the times that came with it. */
  readonly latestMs: number;
}

/** Asks a node, in one of the ways in which clients read; undefined when it can't say. */
export type WayToRead = (baseUrl: string, question: Question) => Promise<Told | undefined>;

export const waysToRead: Readonly<Record<string, WayToRead>> = {
  "GET /v3/devices/{id}": async (baseUrl, { guest, deviceId, names }) => {
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}`);
    return body && toldBy(body.attributes, names, null);
  },

  "the same for some attributes": async (baseUrl, { guest, deviceId, names }) => {
    const query = new URLSearchParams(names.map((name) => ["attribute", name]));
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}?${query}`);
    return body && toldBy(body.attributes, names, null);
  },

  "the same since a time": async (baseUrl, { guest, deviceId, names, sinceMs }) => {
    const body = await get(baseUrl, guest, `/v3/devices/${deviceId}?since=${sinceMs}`);
    // What hasn't changed since isn't there, and nothing is said about it.
    return body && toldBy(body.attributes, names, undefined);
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

/** `absent`: what it means that an attribute isn't there. */
function toldBy(
  attributes: Readonly<Record<string, { readonly value: string | null; readonly updateTime: number }>>,
  names: Question["names"],
  absent: null | undefined,
): Told {
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

/** A platform call has no other word for it than a fault of number 199. */
async function call(baseUrl: string, { secToken }: Guest, operation: string, parameters: Record<string, string>) {
  const answer = await new PlatformClient(() => baseUrl).call(operation, { secToken, ...parameters });
  if (answer.requestFault?.errorCode === "199") return undefined;
  const told = answer[`${operation}Response`];
  assert.ok(told, JSON.stringify(answer));
  return told;
}
