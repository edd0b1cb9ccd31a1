import { html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { state } from "../kit/state.ts";
import { tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/operators";

export interface ShownOperator {
  readonly operatorId: number;
  readonly name: string;
  readonly role: string;
  readonly allTenants: boolean;
  readonly tenants: readonly { readonly tenantId: number; readonly name: string }[];
  readonly suspended: boolean;
  readonly created: string;
  readonly signedIn: string | null;
}

/** The people who run this service. */
export const operators: ConsolePage = {
  path,
  title: "Operators",
  navigationLabel: "Operators",
  subject: "deployment",
  async render(context) {
    const { call, address, nowMs, operator: self } = context;
    const { operators: found } = await call("operator list");
    const asks = [invitation(context)];
    return {
      ask: openAsk(context, path, asks),
      list: html`${tableOf<ShownOperator>(
        "Operators",
        [
          {
            title: "Name",
            cell: ({ operatorId, name }) =>
              // Others than owners see nobody but themselves there.
              self.role === "owner" || self.operatorId === operatorId
                ? html`<a href="${address(`${path}/${operatorId}`)}">${named(name)}</a>`
                : named(name),
          },
          { title: "Role", cell: ({ role }) => roleWords[role] ?? role },
          { title: "Tenants", cell: (one) => reachOf(one) },
          { title: "State", cell: (one) => operatorState(one) },
          { title: "Signed in", cell: ({ signedIn }) => when(signedIn, nowMs) },
        ],
        found,
      )}
${askLinks(context, path, asks)}`,
    };
  },
};

export const roleWords: Readonly<Record<string, string>> = {
  owner: "owner",
  tenantAdmin: "tenant admin",
  viewer: "viewer",
};

export function reachOf({ allTenants, tenants }: ShownOperator) {
  if (allTenants) return html`all`;
  if (tenants.length === 0) return html`<span class="soft">none</span>`;
  return html`<bdi>${tenants.map(({ name }) => name).join(", ")}</bdi>`;
}

export function operatorState({ suspended }: ShownOperator) {
  return suspended ? state("off", "suspended") : state("good", "active");
}

/** The fields of a role and its tenants. */
export function reachFields({ tenants }: PageContext, role: string, chosen: readonly string[]) {
  const hint = `One name or id in each line. An owner needs none; a viewer without one sees all. There are: ${tenants
    .slice(0, 20)
    .map(({ name }) => name)
    .join(", ")}.`;
  return html`${typed({ option: "role", label: "Role", value: role, isFirst: true, choices: Object.entries(roleWords) })}
${typed({ option: "tenant", label: "Tenants", hint, value: chosen.join("\n"), isLines: true })}`;
}

function invitation(context: PageContext): Ask {
  return {
    name: "invite",
    act: "operator invite",
    link: "Invite a person",
    title: "Invite a person",
    words: "You get a link for one use within 7 days, which is shown once. The person chooses the password.",
    fields: html`${reachFields(context, "viewer", [])}
${typed({ option: "name", label: "Name to sign in with", hint: "When it is empty, the person chooses one." })}`,
    example: { role: "viewer" },
    button: "Make the link",
  };
}
