import { html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { filterForm, kept, pager, tableOf } from "../kit/table.ts";

const path = "/tenants";
const names = ["filter"];

interface ListedTenant {
  readonly tenantId: number;
  readonly name: string;
}

/** The companies whose users are served. */
export const tenants: ConsolePage = {
  path,
  title: "Tenants",
  navigationLabel: "Tenants",
  subject: "tenants",
  async render(context) {
    const { call, address } = context;
    const { tenants: found, cursor } = await call("tenant list", {
      ...kept(context, [...names, "cursor"]),
      "page-size": "50",
    });
    return {
      ask: openAsk(context, path, [addition]),
      list: html`${filterForm(context, path, [{ name: "filter", label: "Name or id" }])}
${
  found.length === 0
    ? html`<p>There is no such tenant.</p>`
    : tableOf<ListedTenant>(
        "Tenants",
        [
          {
            title: "Name",
            cell: ({ tenantId, name }) => html`<a href="${address(`${path}/${tenantId}`)}">${named(name)}</a>`,
          },
          { title: "Id", cell: ({ tenantId }) => tenantId },
        ],
        found,
      )
}
${pager(context, path, names, cursor)}
${askLinks(context, path, [addition])}`,
    };
  },
};

const addition: Ask = {
  name: "add",
  act: "tenant add",
  link: "Add a tenant",
  title: "Add a tenant",
  words: "A tenant is a company whose users and clients are served here.",
  fields: typed({ option: "name", label: "Name", isRequired: true, isFirst: true }),
  example: { name: "Acme" },
  button: "Add",
};
