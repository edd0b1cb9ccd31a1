import { isJsonObject, type Json } from "../home/json.ts";
import { badArgument } from "../refusal.ts";
import { type Permissions, readPermissions } from "./permissions.ts";

/** A program that is registered with the ecosystem. */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly returnsTo: ReturnAddress;
  /** The permissions that the client requests. Existing grants keep theirs. */
  readonly permissions: Permissions;
}

/** The allowed redirect addresses: one address, any loopback address, or none (the owner gets a PIN). */
export type ReturnAddress =
  | { readonly kind: "exact"; readonly uri: string }
  | { readonly kind: "loopback" }
  | { readonly kind: "pin" };

export interface ClientPlan {
  readonly name: string;
  readonly returnsTo: ReturnAddress;
  readonly permissions: Permissions;
}

const maxNameLength = 200;

/** Parses the description of a client; everything has a default. */
export function readClientPlan(body: Json): ClientPlan {
  if (!isJsonObject(body)) throw badArgument("A client is described by a JSON object.");
  const { name = "An app", redirectUri = null, permissions } = body;
  if (typeof name !== "string" || name.trim() === "" || name.length > maxNameLength) {
    throw badArgument(`name must be a text of 1 to ${maxNameLength} characters.`);
  }
  return { name, returnsTo: readReturnAddress(redirectUri), permissions: readPermissions(permissions) };
}

/** The redirect address of a request; null for a PIN; undefined if the requested address is not allowed. */
export function chooseReturn({ returnsTo }: Client, requested: string): string | null | undefined {
  if (returnsTo.kind === "exact") return requested === "" || requested === returnsTo.uri ? returnsTo.uri : undefined;
  if (requested === "") return null;
  return returnsTo.kind === "loopback" && isLoopback(requested) ? requested : undefined;
}

function readReturnAddress(redirectUri: Json): ReturnAddress {
  if (redirectUri === null || redirectUri === "") return { kind: "pin" };
  const isAddress = typeof redirectUri === "string" && URL.canParse(redirectUri) && !redirectUri.includes("#");
  if (!isAddress || redirectUri.length > 1000) {
    throw badArgument("redirectUri must be an absolute address without a fragment, of at most 1000 characters.");
  }
  return { kind: "exact", uri: redirectUri };
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address) || address.includes("#")) return false;
  const { protocol, hostname } = new URL(address);
  return /^https?:$/.test(protocol) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
