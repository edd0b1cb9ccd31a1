import type { Identity } from "../../identity/identity.ts";
import type { TenantId } from "../../model/ids.ts";
import type { Brand } from "../../web/page.ts";
import { authorizePaths } from "../authorize/browser.ts";

/** The path of the base URL, under which a proxy publishes the service; empty without one. */
export function basePath(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, "");
}

/** The branding of a tenant's pages, with the address of its logo. */
export function pageBrand(identity: Pick<Identity, "brandOf">, baseUrl: () => string) {
  return async (tenantId: TenantId): Promise<Brand> => {
    const { tenantName, accent, supportUrl, hasLogo } = await identity.brandOf(tenantId);
    const logoUrl = hasLogo ? `${basePath(baseUrl())}${authorizePaths.logo}/${tenantId}` : undefined;
    return { tenantName, accent, supportUrl, logoUrl };
  };
}
