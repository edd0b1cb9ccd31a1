import { html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { accessState } from "../kit/state.ts";
import { filterForm, pageInput, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/users";
const kept = ["filter"];

interface ListedUser {
  readonly userId: number;
  readonly name: string;
  readonly admin: boolean;
  readonly suspended: boolean;
  readonly tenant: string;
  readonly created: string;
}

/** The people whose homes are linked. */
export const users: ConsolePage = {
  path,
  title: "Users",
  navigationLabel: "Users",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const { users: found, cursor } = await call("user list", pageInput(context, kept));
    const asks = [addition(context)];
    const isFiltered = parameter("filter") !== undefined || parameter("cursor") !== undefined;
    const list =
      found.length === 0
        ? html`<p>${isFiltered ? "No user has such a name or id." : "There are no users yet. A user is a person whose home is connected."}</p>`
        : tableOf<ListedUser>(
            "Users",
            [
              {
                title: "Name",
                cell: ({ userId, name }) => html`<a href="${address(`${path}/${userId}`)}">${named(name)}</a>`,
              },
              { title: "State", cell: (one) => accessState(one) },
              { title: "Id", cell: ({ userId }) => userId },
              { title: "Tenant", cell: ({ tenant }) => html`<bdi>${tenant}</bdi>` },
              { title: "Consents for", cell: ({ admin }) => (admin ? "the tenant" : "itself") },
              { title: "Added", cell: ({ created }) => when(created, nowMs) },
            ],
            found,
          );
    return {
      ask: openAsk(context, path, asks),
      list: html`${filterForm(context, path, [{ name: "filter", label: "Name or id" }])}
${list}
${pager(context, path, kept, cursor)}
${askLinks(context, path, asks)}`,
    };
  },
};

function addition({ tenant, tenants }: PageContext): Ask {
  const of = tenant ?? tenants[0];
  return {
    name: "add",
    act: "user add",
    link: "Add a user",
    title: "Add a user",
    words: "The user signs in with this name and password.",
    fields: html`${typed({
      option: "tenant",
      label: "Tenant",
      value: String(of?.tenantId ?? ""),
      choices: tenants.map(({ tenantId, name }) => [String(tenantId), name] as const),
    })}
${typed({ option: "name", label: "Name", isRequired: true, isFirst: true })}
${typed({ option: "password", label: "Password", hint: "8 to 60 characters.", type: "password", isRequired: true })}
${typed({
  option: "admin",
  label: "Consents",
  value: "false",
  hint: "Only a user who consents for the tenant may give an enterprise client access.",
  choices: [
    ["false", "for themselves"],
    ["true", "for the tenant"],
  ],
})}`,
    example: { tenant: of?.name ?? "Acme", name: "ada", password: "" },
    button: "Add",
  };
}
