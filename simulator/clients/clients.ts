import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { notFound } from "../refusal.ts";
import type { Secrets } from "../secrets.ts";
import type { Client, ClientPlan } from "./client.ts";
import { everything, type Permissions } from "./permissions.ts";

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The persisted form of a client. */
export type KeptClient = Client & { readonly clientSecret: string };

/**
 * A built-in client, so that a first try needs no registration. It may return to any loopback address or use a PIN.
 * Tokens that were issued without the consent page belong to it.
 */
export const defaultClient: KeptClient = {
  clientId: "hearth-hollow-first-steps",
  clientSecret: "first-steps-need-no-secret",
  name: "First steps",
  returnsTo: { kind: "loopback" },
  permissions: everything,
};

/** The programs that are registered with the ecosystem. */
export class Clients {
  readonly #secrets: Secrets;
  readonly #byId = new Map<string, KeptClient>();

  constructor(secrets: Secrets, kept: readonly KeptClient[] = []) {
    this.#secrets = secrets;
    for (const client of [defaultClient, ...kept]) this.#add(client);
  }

  get kept(): readonly KeptClient[] {
    return [...this.#byId.values()];
  }

  get all(): readonly Client[] {
    return this.kept;
  }

  get count(): number {
    return this.#byId.size;
  }

  register(plan: ClientPlan): ClientCredentials {
    const credentials = { clientId: randomUUID(), clientSecret: randomBytes(18).toString("base64url") };
    this.#add({ ...plan, ...credentials });
    return credentials;
  }

  find(clientId: string): Client | undefined {
    return this.#byId.get(clientId);
  }

  get(clientId: string): Client {
    const client = this.find(clientId);
    if (client === undefined) throw notFound("There is no client with this id.");
    return client;
  }

  authenticate(clientId: string, clientSecret: string): Client | undefined {
    const client = this.#byId.get(clientId);
    return client !== undefined && isEqual(client.clientSecret, clientSecret) ? client : undefined;
  }

  /** Changes the permissions that the client requests from now on. */
  setPermissions(clientId: string, permissions: Permissions): void {
    this.get(clientId);
    this.#byId.set(clientId, { ...this.#byId.get(clientId)!, permissions });
  }

  #add(client: KeptClient): void {
    this.#secrets.remember(client.clientSecret);
    this.#byId.set(client.clientId, client);
  }
}

function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
