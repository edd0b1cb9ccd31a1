/** An entry of the audit log, as `audit list` answers it. */
export interface ShownEntry {
  readonly id: number;
  readonly time: string;
  readonly act: string;
  readonly tenantId: number | null;
  readonly userId: number | null;
  readonly clientId: string | null;
  readonly source: string;
  readonly operator: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The parameters of the address that limit the list. */
export const auditFilters = ["act", "operator", "user", "client"];

/** `client edit`, `name: Voice`: what was done, then its facts; for others than operators the act itself. */
export function wordsOf({ act, detail }: ShownEntry): readonly string[] {
  const { command, ...facts } = detail;
  const words = Object.entries(facts).map(([name, value]) => {
    const shown = Array.isArray(value) ? value.join(" ") || "none" : String(value);
    return value === true ? name : `${name}: ${shown}`;
  });
  return [act === "admin" && typeof command === "string" ? command : act.replaceAll("_", " "), ...words];
}
