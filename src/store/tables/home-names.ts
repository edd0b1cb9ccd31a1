import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { thingNameSql } from "../schema-steps/things.ts";
import { first, type Sql } from "../sql.ts";

/** Which devices of a tenant are meant: those after a device in the order of types and ids, `limit` at most. */
export interface NamePlace {
  readonly tenantId: TenantId;
  readonly afterType: number;
  readonly afterId: number;
  readonly limit: number;
}

/** The names in some homes as two texts, one name in a line: rows for each name would cost most of the time. */
export interface JoinedNames {
  /** How many devices there were, those of linked accounts too, and the last one. */
  readonly devices: number;
  readonly lastType: number;
  readonly lastId: number;
  /** How many present things these devices have; `mostJoinedThings`: there may be more, whose names are left out. */
  readonly things: number;
  readonly thingNames: string;
  readonly deviceNames: string;
}

/** A thing with a name. */
export interface NamedThing {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly thingId: string;
  readonly name: string;
}

/** An own device. */
export interface NamedDevice {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly name: string;
}

/** Reads the names of things of linked accounts, and of own devices, tenant by tenant, to search in them. */
export interface HomeNameTable {
  /** Without `areThingsWanted` the names of own devices alone. */
  joined(place: NamePlace, areThingsWanted: boolean): Promise<JoinedNames>;
  /** The same names one by one; things in no order. */
  things(place: NamePlace): Promise<NamedThing[]>;
  devices(place: NamePlace): Promise<NamedDevice[]>;
}

/** Names of things that one statement joins: a few milliseconds on SQLite. */
export const mostJoinedThings = 20_000;

export function homeNameTable(sql: Sql): HomeNameTable {
  const isShared = sql.dialect === "postgres";
  const name = thingNameSql[sql.dialect].replaceAll("descriptor", "t.descriptor");
  const join = (text: string) => (isShared ? `string_agg(${text}, E'\\n')` : `group_concat(${text}, char(10))`);
  const columns = "type_id, id, user_id, name, is_virtual";
  // Two ranges of the index by tenant and type: SQLite would read the type from its beginning for (type_id, id) > (…).
  // MATERIALIZED: otherwise it would search the devices once for each use.
  const chosen = `WITH d AS MATERIALIZED (SELECT ${columns} FROM (
    SELECT ${columns} FROM (SELECT ${columns} FROM devices WHERE tenant_id = $1 AND type_id = $2 AND id > $3
      ORDER BY id LIMIT $4) same
    UNION ALL SELECT ${columns} FROM (SELECT ${columns} FROM devices WHERE tenant_id = $1 AND type_id > $2
      ORDER BY type_id, id LIMIT $4) others) chosen ORDER BY type_id, id LIMIT $4)`;
  const ofDevice = `${isShared ? "t.user_id = d.user_id AND " : ""}t.device_id = d.id AND t.gone_ms IS NULL`;
  const present = `d CROSS JOIN things t WHERE ${ofDevice} AND d.is_virtual = 1`;
  const parameters = ({ tenantId, afterType, afterId, limit }: NamePlace) => [tenantId, afterType, afterId, limit];
  return {
    async joined(place, areThingsWanted) {
      const things = areThingsWanted
        ? `(SELECT COUNT(*) AS things, ${join("n.name")} AS names
            FROM (SELECT ${name} AS name FROM ${present} LIMIT ${mostJoinedThings}) n)`
        : "(SELECT 0 AS things, NULL AS names)";
      const found = await first(
        sql.all<Record<keyof JoinedNames, string | number | null>>(
          `${chosen} SELECT o.devices, o.last_type AS "lastType", (SELECT MAX(id) FROM d WHERE type_id = o.last_type) AS "lastId", o.names AS "deviceNames", f.things, f.names AS "thingNames"
           FROM (SELECT COUNT(*) AS devices, MAX(type_id) AS last_type,
             ${join("CASE WHEN is_virtual = 0 THEN name END")} AS names FROM d) o CROSS JOIN ${things} f`,
          parameters(place),
        ),
      );
      return {
        devices: Number(found?.devices ?? 0),
        lastType: Number(found?.lastType ?? place.afterType),
        lastId: Number(found?.lastId ?? place.afterId),
        things: Number(found?.things ?? 0),
        thingNames: String(found?.thingNames ?? ""),
        deviceNames: String(found?.deviceNames ?? ""),
      };
    },
    things: (place) =>
      sql.all(
        `${chosen} SELECT t.user_id AS "userId", t.device_id AS "deviceId", t.thing_id AS "thingId",
           ${name} AS name FROM ${present} AND ${name} IS NOT NULL LIMIT ${mostJoinedThings}`,
        parameters(place),
      ),
    devices: (place) =>
      sql.all(
        `${chosen} SELECT user_id AS "userId", id AS "deviceId", name FROM d WHERE is_virtual = 0 ORDER BY type_id, id`,
        parameters(place),
      ),
  };
}
