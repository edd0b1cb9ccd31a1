import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { thingNameSql } from "../schema-steps/things.ts";
import { first, type Sql } from "../sql.ts";

/** Which devices of a tenant are meant, `limit` at most, in the order of types and ids. Each is one range of an index. */
export interface NamePlace {
  readonly tenantId: TenantId;
  readonly afterType: number;
  /** The devices of the type `afterType` after this one. Undefined: those of all types after that type. */
  readonly afterId?: number | undefined;
  readonly limit: number;
}

/** The names in some homes as two texts, one name in a line: rows for each name would cost most of the time. */
export interface JoinedNames {
  /** How many present things the devices have; `mostJoinedThings`: there may be more, whose names are left out. */
  readonly things: number;
  readonly thingNames: string;
  /** How many of the devices are own ones. */
  readonly devices: number;
  readonly deviceNames: string;
  /** The last device; undefined when there are fewer devices than the limit, so that no more follow. */
  readonly last: { readonly type: number; readonly id: number } | undefined;
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
  /** What finds the things of a device. SQLite reads the ids from an index alone. Own devices have no rows of things. */
  const [keyOfThings, ofDevice] = isShared
    ? ["user_id, id", "t.user_id = d.user_id AND t.device_id = d.id AND t.gone_ms IS NULL"]
    : ["id", "t.device_id = d.id AND t.gone_ms IS NULL"];
  return {
    async joined(place, areThingsWanted) {
      const { range, parameters } = rangeOf(place);
      // A CROSS JOIN: with a LEFT JOIN, SQLite would not take the names from the index.
      const things = areThingsWanted
        ? `SELECT COUNT(*) AS things, ${join("n.name")} AS names
           FROM (SELECT ${name} AS name FROM (${chosen(keyOfThings, range)}) d CROSS JOIN things t
             WHERE ${ofDevice} LIMIT ${mostJoinedThings}) n`
        : "SELECT 0 AS things, NULL AS names";
      const [found, last] = await Promise.all([
        first(
          sql.all<{ things: number; thingNames: string | null; devices: number; deviceNames: string | null }>(
            `SELECT f.things, f.names AS "thingNames", o.devices, o.names AS "deviceNames" FROM (${things}) f CROSS JOIN
               (SELECT COUNT(*) AS devices, ${join("d.name")} AS names
                FROM (${chosen("name, is_virtual", range)}) d WHERE d.is_virtual = 0) o`,
            [place.limit, ...parameters],
          ),
        ),
        lastOf(place),
      ]);
      return {
        things: Number(found?.things ?? 0),
        thingNames: found?.thingNames ?? "",
        devices: Number(found?.devices ?? 0),
        deviceNames: found?.deviceNames ?? "",
        last,
      };
    },
    things(place) {
      const { range, parameters } = rangeOf(place);
      return sql.all(
        `SELECT t.user_id AS "userId", t.device_id AS "deviceId", t.thing_id AS "thingId", ${name} AS name
         FROM (${chosen(keyOfThings, range)}) d CROSS JOIN things t
         WHERE ${ofDevice} AND ${name} IS NOT NULL LIMIT ${mostJoinedThings}`,
        [place.limit, ...parameters],
      );
    },
    devices(place) {
      const { range, parameters } = rangeOf(place);
      return sql.all(
        `SELECT d.user_id AS "userId", d.id AS "deviceId", d.name
         FROM (${chosen("type_id, id, user_id, name, is_virtual", range)}) d WHERE d.is_virtual = 0
         ORDER BY d.type_id, d.id`,
        [place.limit, ...parameters],
      );
    },
  };

  function lastOf(place: NamePlace): Promise<JoinedNames["last"]> {
    const { range, parameters } = rangeOf(place);
    return first(
      sql.all(`SELECT type_id AS type, id FROM devices WHERE ${range} LIMIT 1 OFFSET $1`, [
        place.limit - 1,
        ...parameters,
      ]),
    );
  }
}

function chosen(columns: string, range: string): string {
  return `SELECT ${columns} FROM devices WHERE ${range} LIMIT $1`;
}

function rangeOf({ tenantId, afterType, afterId }: NamePlace) {
  return afterId === undefined
    ? { range: "tenant_id = $2 AND type_id > $3 ORDER BY type_id, id", parameters: [tenantId, afterType] }
    : { range: "tenant_id = $2 AND type_id = $3 AND id > $4 ORDER BY id", parameters: [tenantId, afterType, afterId] };
}
