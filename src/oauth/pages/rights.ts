import { scopes as allScopes, type Scope, type Scopes } from "../../model/scopes.ts";
import { type Html, html } from "../../web/html.ts";

/** What a client asks for, or was granted. */
export interface Granted {
  /** With "tenant" it covers the data of all users of the tenant. */
  readonly covers: "user" | "tenant";
  /** Null means everything. */
  readonly scopes: Scopes;
}

/** What a client may do, in words: one sentence for each right. Without scopes these are the rights of all scopes. */
export function rightsOf(tenantName: string, { covers, scopes }: Granted): readonly Html[] {
  const named = scopes ?? allScopes;
  if (covers === "tenant") {
    const see = [
      html`See every user of <bdi>${tenantName}</bdi>`,
      html`See every device of every user, and what it does`,
    ];
    const rights = scopes === null ? { ...tenantRights, "devices:control": controlOfUnscopedTenant } : tenantRights;
    return named.flatMap((scope) => (scope === "devices:read" ? see : rights[scope]));
  }
  const see = [
    html`See your user name`,
    html`See your devices, such as thermostats and smoke alarms, and what they do`,
  ];
  const rights = scopes === null ? { ...userRights, "devices:control": controlOfUnscoped } : userRights;
  return named.flatMap((scope) => (scope === "devices:read" ? see : rights[scope]));
}

type OtherRights = Readonly<Record<Exclude<Scope, "devices:read">, Html>>;

const userRights: OtherRights = {
  "devices:control": html`Change and control your devices`,
  alerts: html`See and change the alerts on your devices`,
  webhooks: html`Be sent what your devices do, as it happens`,
  links: html`Manage the accounts that you have linked`,
};

/** A grant without scopes allows no commands but those to fans (identity/principal.ts, hasConsent). */
const controlOfUnscoped = html`Change the values of your devices, and start and stop fans, but control nothing else`;
const controlOfUnscopedTenant = html`Change values of every device, and run fans, but control nothing else`;

const tenantRights: OtherRights = {
  "devices:control": html`Change and control every device of every user`,
  alerts: html`See and change the alerts on every device`,
  webhooks: html`Be sent what every device does, as it happens`,
  links: html`Manage the accounts that users have linked`,
};
