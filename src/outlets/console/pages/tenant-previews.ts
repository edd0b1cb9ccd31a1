import { connectPage } from "../../../link-sessions/pages/connect-page.ts";
import { authorizePaths } from "../../../oauth/authorize/browser.ts";
import { loginPage } from "../../../oauth/pages/login-page.ts";
import { termsPage } from "../../../oauth/pages/terms-page.ts";
import type { Page } from "../../../web/page.ts";

/** The pages of a tenant's users that are previewed. */
export const previews: Readonly<Record<string, string>> = {
  login: "Sign in",
  terms: "Consent and terms",
  link: "Connect a home",
};

interface PreviewedTenant {
  readonly tenantId: number;
  readonly name: string;
  readonly accent: string | null;
  readonly supportUrl: string | null;
  readonly logo: object | null;
  readonly terms: { readonly version: string; readonly date: string; readonly text: string } | null;
}

/** One of the tenant's pages with example words; undefined for another name. Its forms lead nowhere. */
export function tenantPreview(wanted: string, tenant: PreviewedTenant): Page | undefined {
  const { tenantId, name, accent, supportUrl, logo, terms } = tenant;
  const brand = {
    tenantName: name,
    accent: accent ?? undefined,
    supportUrl: supportUrl ?? undefined,
    logoUrl: logo === null ? undefined : `${authorizePaths.logo}/${tenantId}`,
  };
  const shared = {
    brand,
    clientName: "Example app",
    returnsTo: "app.example",
    action: "#",
    hidden: {},
    accountUrl: "#",
  };
  if (wanted === "login") return loginPage({ ...shared, username: "" });
  if (wanted === "terms") {
    const accepted = terms && { text: terms.text, version: terms.version, dateMs: Date.parse(terms.date) };
    return termsPage({ ...shared, userName: "ada", covers: "user", scopes: null, terms: accepted ?? undefined });
  }
  if (wanted !== "link") return undefined;
  return connectPage({ ...shared, userName: "ada", isSignedIn: true, accountName: "home account", mode: "link" });
}
