import { InvalidSetting } from "../model/setting-checks.ts";
import { fileText } from "./setting-values.ts";

/** Gives operators a role by a claim of their ID token. */
export interface OpenIdRole {
  readonly claim: string;
  readonly value: string;
  readonly role: string;
  readonly tenants: readonly string[];
}

const roles = ["owner", "tenantAdmin", "viewer"];
const members = ["claim", "value", "role", "tenants"];

/** Reads the rules from JSON or from the file of it. */
export function readOpenIdRoles(text: string | undefined): readonly OpenIdRole[] {
  if (text === undefined) return [];
  const isFile = !text.trimStart().startsWith("[");
  const rules = parsed(isFile ? fileText(text) : text);
  if (!Array.isArray(rules) || rules.length === 0) throw new InvalidSetting("must be a JSON list of rules");
  return rules.map((rule, index) => readRule(rule, `rule ${index + 1}`));
}

function readRule(rule: unknown, name: string): OpenIdRole {
  if (typeof rule !== "object" || rule === null) throw new InvalidSetting(`must hold an object as ${name}`);
  const { claim, value, role, tenants = [] } = rule as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(rule).find((key) => !members.includes(key));
  if (unknown !== undefined) throw new InvalidSetting(`has an unknown member "${unknown}" in ${name}`);
  if (!isText(claim) || !isText(value)) throw new InvalidSetting(`needs the texts "claim" and "value" in ${name}`);
  if (!isText(role) || !roles.includes(role)) {
    throw new InvalidSetting(`needs a "role" in ${name}: ${roles.join(", ")}`);
  }
  if (!Array.isArray(tenants) || !tenants.every(isText)) {
    throw new InvalidSetting(`needs a list of names as "tenants" in ${name}`);
  }
  if ((role === "tenantAdmin") !== tenants.length > 0 && role !== "viewer") {
    throw new InvalidSetting(
      role === "owner" ? `names tenants for an owner in ${name}` : `needs "tenants" for a tenantAdmin in ${name}`,
    );
  }
  return { claim, value, role, tenants };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidSetting(`is not JSON: ${(error as Error).message}`);
  }
}
