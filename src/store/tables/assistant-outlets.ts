import { type OwnerId, ownerIdOf, type TenantId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

/** A tenant's connection to an assistant, such as its skill at Alexa. Users link it through its OAuth client. */
export interface OutletRow {
  readonly id: string;
  readonly tenantId: TenantId;
  /** The kind of assistant: `google-home` or `alexa`. */
  readonly kind: string;
  readonly clientId: string;
  /** JSON that belongs to the kind, sealed. */
  readonly sealedSettings: string;
  readonly createdMs: number;
}

/** An outlet is alive only while its client exists. Queries return only live outlets. */
export interface AssistantOutletTable {
  add(outlet: Omit<OutletRow, "createdMs">): Promise<OutletRow>;
  list(tenantId?: TenantId): Promise<OutletRow[]>;
  byId(id: string): Promise<OutletRow | undefined>;
  ofClient(clientId: string): Promise<OutletRow | undefined>;
  /** Removes the outlet with all that is stored for its users. */
  remove(outlet: Pick<OutletRow, "tenantId" | "id">): Promise<void>;
  /** Removes outlets whose client was removed; returns how many. */
  removeDead(): Promise<number>;
}

/** Tables with rows for the users of an outlet. */
const ofUsers = ["assistant_grants", "assistant_marks", "assistant_replies", "assistant_deliveries"];

const columns = `o.id, -o.owner_id AS "tenantId", o.kind, o.client_id AS "clientId",
  o.sealed_settings AS "sealedSettings", o.created_ms AS "createdMs"`;
const isAlive = "EXISTS (SELECT 1 FROM clients c WHERE c.id = o.client_id)";

export function assistantOutletTable(sql: Sql): AssistantOutletTable {
  const rows = (where: string, parameters: readonly Parameter[] = []) =>
    sql.all<OutletRow>(
      `SELECT ${columns} FROM assistant_outlets o WHERE ${isAlive} AND ${where} ORDER BY o.created_ms, o.id`,
      parameters,
    );
  const remove = async (ownerId: OwnerId, id: string) => {
    for (const table of ofUsers) await sql.run(`DELETE FROM ${table} WHERE outlet_id = $1`, [id]);
    await sql.run("DELETE FROM assistant_outlets WHERE owner_id = $1 AND id = $2", [ownerId, id]);
  };
  return {
    async add({ id, tenantId, kind, clientId, sealedSettings }) {
      const createdMs = await sql.nowMs();
      await sql.run(
        `INSERT INTO assistant_outlets (owner_id, id, kind, client_id, sealed_settings, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [ownerOf(tenantId), id, kind, clientId, sealedSettings, createdMs],
      );
      return { id, tenantId, kind, clientId, sealedSettings, createdMs };
    },
    list: (tenantId) => (tenantId === undefined ? rows("1 = 1") : rows("o.owner_id = $1", [ownerOf(tenantId)])),
    byId: async (id) => (isStorable(id) ? first(rows("o.id = $1", [id])) : undefined),
    ofClient: (clientId) => first(rows("o.client_id = $1", [clientId])),
    remove: ({ tenantId, id }) => remove(ownerOf(tenantId), id),
    async removeDead() {
      const dead = await sql.all<{ ownerId: OwnerId; id: string }>(
        `SELECT o.owner_id AS "ownerId", o.id FROM assistant_outlets o WHERE NOT ${isAlive}`,
      );
      for (const { ownerId, id } of dead) await remove(ownerId, id);
      return dead.length;
    },
  };
}

function ownerOf(tenantId: TenantId): OwnerId {
  return ownerIdOf({ userId: null, tenantId });
}
