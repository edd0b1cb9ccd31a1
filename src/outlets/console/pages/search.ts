import { BadParameter, NotFound } from "../../../model/errors.ts";
import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { filterForm } from "../kit/table.ts";
import { readOnce } from "../kit/times.ts";

const path = "/search";

/**
 * Finds users, homes, things, devices, alerts, clients, tenants, webhooks, assistants, operators and requests by name or
 * id.
 */
export const search: ConsolePage = {
  path,
  title: "Search",
  navigationLabel: "Search",
  subject: "tenants",
  // A search reads the names of all homes: an open page does not repeat it.
  partsNotRefreshed: ["form", "found"],
  async render(context) {
    const wanted = context.parameter("q")?.trim() ?? "";
    return {
      form: filterForm(context, path, [{ name: "q", label: "A name, an id or a request id" }], "Search"),
      found: wanted === "" || !context.wants("found") ? undefined : await found(context, wanted),
    };
  },
};

interface Hit {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  readonly to: string;
}

interface ListedLink {
  readonly homeName: string | null;
  readonly userId: number;
  readonly userName: string;
  readonly ecosystem: string;
  readonly deviceId: number;
}

interface FoundInHomes {
  readonly things: readonly (Owned & {
    readonly thingId: string;
    readonly deviceId: number;
    readonly name: string | null;
    readonly kind: string;
    readonly room: string | null;
  })[];
  readonly devices: readonly (Owned & {
    readonly deviceId: number;
    readonly name: string;
    readonly typeName: string;
  })[];
  readonly alerts: readonly (Owned & { readonly alertId: number })[];
  readonly hasMore: boolean;
  readonly areAllCompared: boolean;
}

interface Owned {
  readonly userId: number;
  readonly userName: string;
}

const perKind = "10";
/** Ids of requests have no spaces, and more characters than other numbers. */
const isRequestId = /^[\w.:-]{8,128}$/;

async function found(context: PageContext, wanted: string): Promise<Html> {
  const { call, callIfAllowed, address, nowMs } = context;
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
  const [users, clients, tenants, homes, inHomes, operators, hook, outlet, request] = await Promise.all([
    call("user list", filter),
    call("client list", filter),
    call("tenant list", filter),
    call("link find", filter),
    call("home find", { text: wanted.slice(0, longestText), ...chosen(context) }) as Promise<FoundInHomes>,
    callIfAllowed("operator list", filter),
    wanted.startsWith("wh_") ? one("hook show", { webhook: wanted }) : undefined,
    wanted.startsWith("bwo_") ? one("outlet show", { outlet: wanted }) : undefined,
    isRequestId.test(wanted) ? one("request show", { request: wanted }) : undefined,
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
    ...(homes.links as readonly ListedLink[]).map(({ homeName, userId, userName, ecosystem, deviceId }) => ({
      kind: "Home",
      name: homeName ?? userName,
      id: `${userName}, ${ecosystem}, device ${deviceId}`,
      to: address(`/homes/${userId}/${encodeURIComponent(ecosystem)}`),
    })),
    ...hitsInHomes(context, inHomes),
    ...((operators?.operators ?? []) as readonly { operatorId: number; name: string }[])
      .filter(({ operatorId, name }) => name.includes(wanted) || String(operatorId) === wanted)
      .slice(0, Number(perKind))
      .map(({ operatorId, name }) => ({
        kind: "Operator",
        name,
        id: String(operatorId),
        to: address(`/operators/${operatorId}`),
      })),
    ...(request ? [{ kind: "Request", name: wanted, id: "", to: address(`/requests/${wanted}`) }] : []),
    ...(hook ? [{ kind: "Webhook", name: hook.url, id: wanted, to: address(`/webhooks/${hook.webhookId}`) }] : []),
    ...(outlet
      ? [{ kind: "Assistant", name: outlet.kind, id: wanted, to: address(`/assistants/${outlet.outlet}`) }]
      : []),
  ];
  const partly = inHomes.areAllCompared
    ? undefined
    : html`<p><strong>Not all names were compared.</strong> There are more things and devices than one search looks at${
        context.tenants.length > 1 ? "; choose a tenant to look further" : ""
      }. Ids are found everywhere.</p>`;
  if (hits.length === 0) {
    return inHomes.areAllCompared
      ? html`<p>Nothing that you may see has this name or id.</p>${readOnce(nowMs)}`
      : html`<p>Nothing was found by this name or id.</p>${partly}${readOnce(nowMs)}`;
  }
  return html`<ul class="needs">${hits.map(
    ({ kind, name, id, to }) =>
      html`<li><span>${kind} <a href="${to}">${named(name)}</a> <span class="code soft">${id}</span></span></li>`,
  )}</ul>
<p class="small">At most ${perKind} of each kind.${inHomes.hasMore ? " More things or devices have this name: write more of it." : ""}</p>${partly}${readOnce(nowMs)}`;
}

const longestText = 200;

/** Names of things and devices are compared in the chosen tenant, because only a part of them is. */
function chosen({ parameter, tenant }: PageContext): Readonly<Record<string, string>> {
  return parameter("tenant") === undefined || !tenant ? {} : { tenant: String(tenant.tenantId) };
}

function hitsInHomes({ address }: PageContext, { things, devices, alerts }: FoundInHomes): readonly Hit[] {
  return [
    ...things.map(({ thingId, deviceId, name, kind, room, userId, userName }) => ({
      kind: "Thing",
      name: name ?? `a ${kind}`,
      id: `${thingId}, ${room === null ? "" : `${room}, `}${userName}`,
      to: `${address(`/devices/${userId}/${deviceId}`)}#${thingId}`,
    })),
    ...devices.map(({ deviceId, name, typeName, userId, userName }) => ({
      kind: "Device",
      name,
      id: `${deviceId}, ${typeName}, ${userName}`,
      to: address(`/devices/${userId}/${deviceId}`),
    })),
    ...alerts.map(({ alertId, userId, userName }) => ({
      kind: "Alert",
      name: `Alert ${alertId}`,
      id: userName,
      to: address(`/alerts/${userId}/${alertId}`),
    })),
  ];
}
