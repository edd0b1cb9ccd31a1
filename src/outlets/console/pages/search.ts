import { BadParameter, NotFound } from "../../../model/errors.ts";
import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { filterForm } from "../kit/table.ts";

const path = "/search";

/** Finds users, clients, tenants, webhooks and assistants by name or id. */
export const search: ConsolePage = {
  path,
  title: "Search",
  rail: "Search",
  subject: "tenants",
  async render(context) {
    const wanted = context.parameter("q")?.trim() ?? "";
    return {
      form: filterForm(context, path, [{ name: "q", label: "A name or an id" }]),
      found: wanted === "" ? undefined : await found(context, wanted),
    };
  },
};

interface Hit {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  readonly to: string;
}

const perKind = "10";

async function found({ call, callIfAllowed, address }: PageContext, wanted: string): Promise<Html> {
  const filter = { filter: wanted, "page-size": perKind };
  const one = async (act: string, input: Readonly<Record<string, string>>) => {
    try {
      return await callIfAllowed(act, input);
    } catch (error) {
      // No such id, or no id at all.
      if (error instanceof NotFound || error instanceof BadParameter) return undefined;
      throw error;
    }
  };
  const [users, clients, tenants, hook, outlet] = await Promise.all([
    call("user list", filter),
    call("client list", filter),
    call("tenant list", filter),
    wanted.startsWith("wh_") ? one("hook show", { webhook: wanted }) : undefined,
    wanted.startsWith("bwo_") ? one("outlet show", { outlet: wanted }) : undefined,
  ]);
  const hits: readonly Hit[] = [
    ...(users.users as readonly { userId: number; name: string }[]).map(({ userId, name }) => ({
      kind: "User",
      name,
      id: String(userId),
      to: address(`/users/${userId}`),
    })),
    ...(clients.clients as readonly { client_id: string; name: string }[]).map(({ client_id: id, name }) => ({
      kind: "Client",
      name,
      id,
      to: address(`/clients/${id}`),
    })),
    ...(tenants.tenants as readonly { tenantId: number; name: string }[]).map(({ tenantId, name }) => ({
      kind: "Tenant",
      name,
      id: String(tenantId),
      to: address(`/tenants/${tenantId}`),
    })),
    ...(hook ? [{ kind: "Webhook", name: hook.url, id: wanted, to: address(`/webhooks/${hook.webhookId}`) }] : []),
    ...(outlet
      ? [{ kind: "Assistant", name: outlet.kind, id: wanted, to: address(`/assistants/${outlet.outlet}`) }]
      : []),
  ];
  if (hits.length === 0) return html`<p>Nothing that you may see has this name or id.</p>`;
  return html`<ul class="needs">${hits.map(
    ({ kind, name, id, to }) =>
      html`<li><span>${kind} <a href="${to}">${named(name)}</a> <span class="code soft">${id}</span></span></li>`,
  )}</ul>
<p class="small">At most ${perKind} of each kind.</p>`;
}
