import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { PageContext } from "../console-page.ts";

/** The names of users, clients and tenants that a list mentions. */
export interface Names {
  readonly address: PageContext["address"];
  readonly tenants: ReadonlyMap<number, string>;
  readonly users: ReadonlyMap<number, string>;
  readonly clients: ReadonlyMap<string, string>;
}

/** What a list mentions. */
export interface Mentions {
  readonly userId?: number | null;
  readonly clientId?: string | null;
}

/** The names of users and clients on this page that exist still. */
export async function namesOf({ call, tenants, address }: PageContext, entries: readonly Mentions[]): Promise<Names> {
  const found = await foundNames(call, {
    user: distinct(entries.map(({ userId }) => userId)),
    client: distinct(entries.map(({ clientId }) => clientId)),
  });
  return {
    address,
    tenants: new Map(tenants.map(({ tenantId, name }) => [tenantId, name])),
    users: new Map(found.users.map(({ userId, name }) => [userId, name])),
    clients: new Map(found.clients.map(({ clientId, name }) => [clientId, name])),
  };
}

/** Ids of which the names are wanted, as `names` takes them. */
interface WantedIds {
  readonly user: readonly string[];
  readonly client: readonly string[];
}

interface FoundNames {
  readonly users: readonly { readonly userId: number; readonly name: string }[];
  readonly clients: readonly { readonly clientId: string; readonly name: string }[];
}

async function foundNames(call: PageContext["call"], wanted: WantedIds): Promise<FoundNames> {
  if (wanted.user.length + wanted.client.length === 0) return { users: [], clients: [] };
  return call("names", { ...wanted });
}

function distinct(ids: readonly (string | number | null | undefined)[]): readonly string[] {
  return [...new Set(ids.flatMap((id) => (id === null || id === undefined ? [] : String(id))))];
}

export function userOf(userId: number, { users, address }: Names): Html {
  const name = users.get(userId);
  return name === undefined
    ? html`user ${userId}, who was removed`
    : html`<a href="${address(`/users/${userId}`)}">${named(name)}</a>`;
}

/** A client by its name, or by its id when it was removed. */
export function clientOf(clientId: string, { clients, address }: Names): Html {
  const name = clients.get(clientId);
  return name === undefined
    ? html`<span class="code">${clientId}</span>`
    : html`<a href="${address(`/clients/${clientId}`)}">${named(name)}</a>`;
}

export function tenantOf(tenantId: number, { tenants }: Names): Html {
  return html`<bdi>${tenants.get(tenantId) ?? `tenant ${tenantId}`}</bdi>`;
}

/** `Voice, ada, Acme`. */
export function inOneLine(parts: readonly Html[]): Html {
  return parts.reduce((line, part) => html`${line}, ${part}`);
}
