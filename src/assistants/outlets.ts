import { BadParameter, LimitReached, NotFound, restOfChange } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Clients, ClientWithSecret } from "../oauth/clients.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { OutletRow } from "../store/tables/assistant-outlets.ts";
import type { Assistant, AssistantKind, CheckedFact, SetUpEntry } from "./assistant.ts";

/** Time limit of the calls of a check together. */
const checkMs = 15_000;

/** A tenant's connection to an assistant. */
export interface Outlet extends Omit<OutletRow, "sealedSettings"> {
  readonly assistant: Assistant;
  readonly settings: object;
}

export interface OutletParts {
  readonly store: Store<Pick<Transaction, "assistantOutlets">>;
  readonly assistants: ReadonlyMap<string, Assistant>;
  readonly clients: Pick<Clients, "addClient" | "removeClient" | "findClient">;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
  readonly outgoing: OutgoingCalls;
  readonly newId: () => string;
  readonly baseUrl: () => string;
}

export interface NewOutlet {
  /** The tenant's name or id. */
  readonly tenant: string;
  readonly kind: AssistantKind;
  /** The name that users read before they give access. */
  readonly name?: string | undefined;
  /** By the names of the settings' options. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface AddedOutlet extends ClientWithSecret {
  readonly outlet: Outlet;
  readonly setUp: readonly SetUpEntry[];
}

export interface Outlets {
  /** Registers the outlet's OAuth client too. Its secret is shown only now. */
  add(outlet: NewOutlet): Promise<AddedOutlet>;
  list(tenantId?: TenantId): Promise<readonly Outlet[]>;
  find(id: string): Promise<Outlet>;
  /** The outlet of this kind whose users this client serves; undefined for any other client. */
  ofClient(kind: AssistantKind, clientId: string): Promise<Outlet | undefined>;
  setUp(outlet: Outlet): readonly SetUpEntry[];
  /** Calls the maker's service. */
  check(outlet: Outlet): Promise<readonly CheckedFact[]>;
  /** Removes the outlet and its client; returns how many grants of the client ended. */
  remove(outlet: Outlet): Promise<number>;
}

export function outletsOn(parts: OutletParts): Outlets {
  const { store, assistants, clients, sealing, outgoing, newId, baseUrl } = parts;
  const opened = (row: OutletRow): readonly Outlet[] => {
    const { sealedSettings, ...outlet } = row;
    const assistant = assistants.get(row.kind);
    // A node of another version may know more kinds.
    if (!assistant) return [];
    return [
      {
        ...outlet,
        assistant,
        // Opened on demand: requests of users do not need it, and one outlet without its key must not hide the others.
        get settings() {
          return JSON.parse(sealing.open(sealedSettings, settingsContext(row.id))) as object;
        },
      },
    ];
  };
  return {
    async add({ tenant, kind, name, settings: typed }) {
      const assistant = assistants.get(kind);
      if (!assistant)
        throw new BadParameter("kind", `Outlets are of one kind of: ${[...assistants.keys()].join(", ")}.`);
      const settings = assistant.readSettings(typed);
      const added = await clients.addClient({
        tenant,
        name: name ?? assistant.title,
        kind: "user",
        redirectUris: assistant.redirectUris(settings),
        requiresPkce: false,
      });
      const { id: clientId, tenantId } = added.client;
      const id = newId();
      const sealedSettings = sealing.seal(JSON.stringify(settings), settingsContext(id));
      try {
        const row = await store.transaction(async (tx) => {
          if ((await tx.assistantOutlets.list(tenantId)).length >= limits.outletsPerTenant) {
            throw new LimitReached("outletsPerTenant", `The tenant has ${limits.outletsPerTenant} outlets already.`);
          }
          return tx.assistantOutlets.add({ id, tenantId, kind, clientId, sealedSettings });
        });
        const outlet = opened(row)[0]!;
        const facts = { baseUrl: baseUrl(), clientId, clientSecret: added.secret };
        return { ...added, outlet, setUp: assistant.setUp(settings, facts) };
      } catch (error) {
        // The client is stored.
        await restOfChange(true, () => clients.removeClient(clientId));
        throw error;
      }
    },
    list: async (tenantId) => (await store.read((tx) => tx.assistantOutlets.list(tenantId))).flatMap(opened),
    async find(id) {
      const row = await store.read((tx) => tx.assistantOutlets.byId(id));
      const [outlet] = row ? opened(row) : [];
      if (!outlet) throw new NotFound(`There is no outlet ${id}. See all with: breezeway outlet list`);
      return outlet;
    },
    async ofClient(kind, clientId) {
      const row = await store.read((tx) => tx.assistantOutlets.ofClient(clientId));
      return row?.kind === kind ? opened(row)[0] : undefined;
    },
    setUp: ({ assistant, settings, clientId }) => assistant.setUp(settings, { baseUrl: baseUrl(), clientId }),
    check({ assistant, settings, tenantId }) {
      const cause = { user: `outlets of tenant ${tenantId}`, tenant: `tenant ${tenantId}` };
      return outgoing.run(cause, (signal) => assistant.check(settings, signal), checkMs);
    },
    async remove(outlet) {
      // First the client: from then on no token of it is accepted and nothing is reported.
      const { grants } = await clients.removeClient(outlet.clientId);
      await restOfChange(true, () => store.transaction((tx) => tx.assistantOutlets.remove(outlet)));
      return grants;
    },
  };
}

/** The context that an outlet's settings are sealed with: they open only for this outlet. */
export function settingsContext(outletId: string): string {
  return `assistant outlet ${outletId}`;
}
