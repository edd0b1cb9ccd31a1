import type { TenantId } from "../../model/ids.ts";
import { first, isStorable, type Sql } from "../sql.ts";
import { operatorLinkTable } from "./operator-links.ts";

export interface TenantRow {
  readonly id: TenantId;
  readonly name: string;
  readonly createdMs: number;
}

/** The branding of a tenant's pages and the terms of its users; null where nothing was set. */
export interface BrandRow {
  readonly tenantName: string;
  /** "#rrggbb". */
  readonly accent: string | null;
  readonly supportUrl: string | null;
  readonly hasLogo: boolean;
  readonly terms: string | null;
  readonly termsVersion: string | null;
  readonly termsMs: number | null;
  readonly requiredTermsMs: number | null;
  readonly termsDeadlineMs: number | null;
}

/** Which terms of a tenant must be accepted. */
export interface TermsRequirement {
  /** The date of the last version that must be accepted; null when there is none. */
  readonly requiredTermsMs: number | null;
  /** When refreshes of grants with older terms end; null for never. */
  readonly termsDeadlineMs: number | null;
}

/** Undefined members stay unchanged; null removes a value. */
export interface BrandChange {
  readonly accent?: string | null | undefined;
  readonly supportUrl?: string | null | undefined;
  /** Media type and bytes as text, as identity/ encodes them. */
  readonly logo?: string | null | undefined;
}

export interface TenantTable {
  /** Undefined when the name or the id is taken. */
  add(tenant: { readonly name: string; readonly id?: TenantId }): Promise<TenantId | undefined>;
  byId(id: TenantId): Promise<TenantRow | undefined>;
  /** The tenant, which can't be removed until the transaction ends. */
  hold(id: TenantId): Promise<TenantRow | undefined>;
  byName(name: string): Promise<TenantRow | undefined>;
  list(): Promise<TenantRow[]>;
  /** The tenant, if there is exactly one. */
  only(): Promise<TenantRow | undefined>;
  /** False when another tenant has the name. */
  rename(id: TenantId, name: string): Promise<boolean>;
  brand(id: TenantId): Promise<BrandRow | undefined>;
  /** Separate from the rest of the brand, since it is large. */
  logo(id: TenantId): Promise<string | undefined>;
  setBrand(id: TenantId, change: BrandChange): Promise<void>;
  /**
   * Removes the tenant with its trait maps, also from the access of operators and of invitations, unless it has users or
   * clients; returns whether it did.
   */
  remove(id: TenantId): Promise<boolean>;
  /**
   * The terms are valid from now on; null removes them, and with them what must be accepted. Their time is later than
   * that of all earlier terms, also when the clock was set back.
   */
  setTerms(id: TenantId, terms: { readonly text: string; readonly version: string } | null): Promise<void>;
  termsRequirement(id: TenantId): Promise<TermsRequirement>;
  /** Whether the present terms must be accepted, and until when. False removes every requirement. */
  requireTerms(id: TenantId, isRequired: boolean, deadlineMs: number | null): Promise<void>;
}

const columns = `id, name, created_ms AS "createdMs"`;
const brandColumns = `name AS "tenantName", accent, support_url AS "supportUrl", logo IS NOT NULL AS "hasLogo", terms,
  terms_version AS "termsVersion", CASE WHEN terms IS NULL THEN NULL ELSE terms_ms END AS "termsMs", required_terms_ms AS "requiredTermsMs", terms_deadline_ms AS "termsDeadlineMs"`;

export function tenantTable(sql: Sql): TenantTable {
  return {
    async add({ name, id }) {
      // A removed tenant's id is not used again, since the audit log still refers to it. Chosen and generated ids share
      // one range: the next generated id is above all others. The lock prevents that two transactions generate the same.
      if (sql.dialect === "postgres") await sql.run("LOCK TABLE tenants IN SHARE ROW EXCLUSIVE MODE");
      const row = await first(
        sql.all<{ id: TenantId }>(
          `INSERT INTO tenants (id, name, created_ms)
           VALUES (COALESCE($1, (SELECT COALESCE(MAX(id), 0) + 1 FROM
             (SELECT MAX(id) AS id FROM tenants UNION ALL SELECT MAX(tenant_id) FROM audit) AS known)), $2, $3)
           ON CONFLICT DO NOTHING RETURNING id`,
          [id ?? null, name, await sql.nowMs()],
        ),
      );
      return row?.id;
    },
    byId: (id) => first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE id = $1`, [id])),
    hold: (id) =>
      first(
        sql.all<TenantRow>(
          `SELECT ${columns} FROM tenants WHERE id = $1${sql.dialect === "postgres" ? " FOR KEY SHARE" : ""}`,
          [id],
        ),
      ),
    // No tenant has a name that can't be stored.
    byName: async (name) =>
      isStorable(name)
        ? first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE name = $1`, [name]))
        : undefined,
    list: () => sql.all<TenantRow>(`SELECT ${columns} FROM tenants ORDER BY id`),
    async only() {
      const [one, ...others] = await sql.all<TenantRow>(`SELECT ${columns} FROM tenants ORDER BY id LIMIT 2`);
      return others.length === 0 ? one : undefined;
    },
    rename: async (id, name) =>
      (await sql.run(
        "UPDATE tenants SET name = $2 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM tenants t WHERE t.name = $2 AND t.id <> $1)",
        [id, name],
      )) > 0,
    async brand(id) {
      const row = await first(sql.all<BrandRow>(`SELECT ${brandColumns} FROM tenants WHERE id = $1`, [id]));
      return row && { ...row, hasLogo: Boolean(row.hasLogo) };
    },
    async logo(id) {
      const row = await first(sql.all<{ logo: string | null }>("SELECT logo FROM tenants WHERE id = $1", [id]));
      return row?.logo ?? undefined;
    },
    async setBrand(id, { accent, supportUrl, logo }) {
      const set = async (column: string, value: string | null | undefined) => {
        if (value !== undefined) await sql.run(`UPDATE tenants SET ${column} = $2 WHERE id = $1`, [id, value]);
      };
      await set("accent", accent);
      await set("support_url", supportUrl);
      await set("logo", logo);
    },
    async remove(id) {
      const removed = await sql.run(
        `DELETE FROM tenants WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE tenant_id = $1)
         AND NOT EXISTS (SELECT 1 FROM clients WHERE tenant_id = $1)`,
        [id],
      );
      if (removed > 0) {
        await sql.run("DELETE FROM device_type_maps WHERE tenant_id = $1", [id]);
        await sql.run("DELETE FROM device_type_work WHERE tenant_id = $1", [id]);
        await sql.run("DELETE FROM quotas WHERE tenant_id = $1", [id]);
        await sql.run("DELETE FROM link_hours WHERE tenant_id = $1", [id]);
        await sql.run("DELETE FROM operator_tenants WHERE tenant_id = $1", [id]);
        await operatorLinkTable(sql).removeTenant(id);
      }
      return removed > 0;
    },
    async setTerms(id, terms) {
      if (terms) {
        await sql.run(
          `UPDATE tenants SET terms = $2, terms_version = $3,
             terms_ms = CASE WHEN terms_ms >= $4 THEN terms_ms + 1 ELSE $4 END WHERE id = $1`,
          [id, terms.text, terms.version, await sql.nowMs()],
        );
        return;
      }
      // `terms_ms` stays: the next terms must be later than all that users have accepted.
      await sql.run(
        `UPDATE tenants SET terms = NULL, terms_version = NULL, required_terms_ms = NULL, terms_deadline_ms = NULL
         WHERE id = $1`,
        [id],
      );
    },
    async termsRequirement(id) {
      const row = await first(
        sql.all<TermsRequirement>(
          `SELECT required_terms_ms AS "requiredTermsMs", terms_deadline_ms AS "termsDeadlineMs"
           FROM tenants WHERE id = $1`,
          [id],
        ),
      );
      return row ?? { requiredTermsMs: null, termsDeadlineMs: null };
    },
    async requireTerms(id, isRequired, deadlineMs) {
      const required = isRequired ? "terms_ms" : "NULL";
      await sql.run(`UPDATE tenants SET required_terms_ms = ${required}, terms_deadline_ms = $2 WHERE id = $1`, [
        id,
        deadlineMs,
      ]);
    },
  };
}
