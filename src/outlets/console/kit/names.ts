import { NotFound } from "../../../model/errors.ts";
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
  const distinct = <Id>(ids: readonly (Id | null | undefined)[]) => [...new Set(ids.flatMap((id) => id ?? []))] as Id[];
  const found = <Id>(ids: readonly Id[], nameOf: (id: Id) => Promise<string>) =>
    Promise.all(
      ids.map(async (id) => {
        try {
          return [[id, await nameOf(id)] as const];
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          // It was removed. The entry shows its id.
          return [];
        }
      }),
    );
  const [users, clients] = await Promise.all([
    found(
      distinct(entries.map(({ userId }) => userId)),
      async (user) => (await call("user show", { user: String(user) })).name,
    ),
    found(
      distinct(entries.map(({ clientId }) => clientId)),
      async (client) => (await call("client show", { client })).name,
    ),
  ]);
  return {
    address,
    tenants: new Map(tenants.map(({ tenantId, name }) => [tenantId, name])),
    users: new Map(users.flat()),
    clients: new Map(clients.flat()),
  };
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
