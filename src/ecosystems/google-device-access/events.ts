import { project } from "../../runtime/json/projection.ts";
import { isJsonObject, type JsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import { readTraits } from "./trait-names.ts";

/** What one message says of an account. */
export type AccountEvent = { readonly timeMs: number } & (
  | { readonly kind: "traits"; readonly device: string; readonly traits: Readonly<Record<string, JsonObject>> }
  | { readonly kind: "relation" }
  | { readonly kind: "other" }
);

/** Undefined for a message that can't be read. */
export function readEvent(content: string): AccountEvent | undefined {
  const event = parseUntrusted(content);
  if (!isJsonObject(event)) return undefined;
  const timeMs = typeof event.timestamp === "string" ? Date.parse(event.timestamp) : Number.NaN;
  if (Number.isNaN(timeMs)) return undefined;
  if (isJsonObject(event.relationUpdate)) return { kind: "relation", timeMs };
  const update = event.resourceUpdate;
  if (!isJsonObject(update) || typeof update.name !== "string") return { kind: "other", timeMs };
  const traits = (project(update.traits, readTraits) ?? {}) as Readonly<Record<string, JsonObject>>;
  return { kind: "traits", timeMs, device: update.name, traits };
}

/** The account that a message belongs to; undefined when it names none. */
export function accountIn(event: unknown): string | undefined {
  const account = isJsonObject(event) ? event.userId : undefined;
  return typeof account === "string" && isAccount(account) ? account : undefined;
}

/** Other texts are no ids of accounts, and some of them could not be stored. */
export function isAccount(text: string): boolean {
  return /^[\x21-\x7e]{1,500}$/.test(text);
}
