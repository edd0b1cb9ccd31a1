import { outletSettings } from "../../../assistants/outlet-settings.ts";
import { html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { errorsByCode, lastDirective, type OutletHealth, reportLag } from "./assistant-health.ts";
import { setUpSteps } from "./assistant-steps.ts";

const path = "/assistants";

export interface ShownOutlet extends OutletHealth {
  readonly outlet: string;
  readonly kind: string;
  readonly tenant: string;
  readonly client_id: string;
  readonly created: string;
}

export const assistantNames: Readonly<Record<string, string>> = { "google-home": "Google Home", alexa: "Alexa" };

/** The connections to voice assistants. */
export const assistants: ConsolePage = {
  path,
  title: "Assistants",
  navigationLabel: "Assistants",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, tenant } = context;
    const { outlets } = await call("outlet list", tenant ? { tenant: String(tenant.tenantId) } : {});
    const asks = additions(context);
    const setUp = html`<h2>Connect an assistant</h2>
<p>After the form you read what to enter in the maker's console, once with the secret of the outlet's client.</p>
${askLinks(context, path, asks)}`;
    const ask = openAsk(context, path, asks);
    if (outlets.length === 0) {
      const steps = Object.entries(assistantNames).map(([kind, title]) => setUpSteps(kind, title));
      return { ask, list: html`<p>No assistant is connected yet. These are the steps:</p>${steps}`, setUp };
    }
    return {
      ask,
      list: tableOf<ShownOutlet & { readonly users: number }>(
        "Assistants",
        [
          {
            title: "Assistant",
            cell: ({ outlet, kind }) =>
              html`<a href="${address(`${path}/${outlet}`)}">${assistantNames[kind] ?? kind}</a><br><span class="code soft">${outlet}</span>`,
          },
          { title: "Tenant", cell: ({ tenant: of }) => html`<bdi>${of}</bdi>` },
          { title: "Accounts linked", cell: ({ users }) => users },
          { title: "Last directive", cell: (one) => lastDirective(one, nowMs) },
          { title: "Report lag", cell: (one) => reportLag(one) },
          { title: "Errors of the last reports", cell: (one) => errorsByCode(one) },
          { title: "Added", cell: ({ created }) => when(created, nowMs) },
        ],
        outlets,
      ),
      setUp,
    };
  },
};

/** A form for each kind of assistant, with its settings. */
function additions({ tenant, tenants }: PageContext): readonly Ask[] {
  const of = tenant ?? tenants[0];
  return Object.entries(assistantNames).map(([kind, title]) => {
    const settings = outletSettings.filter((setting) => setting.kind === kind);
    const required = settings.filter(({ isOptional }) => !isOptional);
    return {
      name: kind,
      act: "outlet add",
      link: `Connect ${title}`,
      title: `Connect ${title}`,
      words: `Its settings come from the maker's console: docs/outlets/${kind}.md says where each of them is.`,
      input: { kind },
      fields: html`${typed({
        option: "tenant",
        label: "Tenant",
        value: String(of?.tenantId ?? ""),
        choices: tenants.map(({ tenantId, name }) => [String(tenantId), name] as const),
      })}
${typed({ option: "name", label: "Name", hint: "Users read it before they give it access. By default that of the assistant." })}
${settings.map(({ name, type, meaning, isOptional }) =>
  typed({
    option: `settings.${name}`,
    label: name,
    hint: `${meaning[0]!.toUpperCase()}${meaning.slice(1)}.${type === "file" ? " Paste the content of the file." : ""}`,
    isRequired: !isOptional,
    ...(type === "secret" && { type: "password" as const }),
    ...(type === "file" && { isLines: true }),
  }),
)}`,
      example: {
        kind,
        tenant: of?.name ?? "Acme",
        ...Object.fromEntries(
          required.map(({ name, type }) => [`settings.${name}`, type === "file" ? "key.json" : "…"]),
        ),
      },
      button: "Connect",
    };
  });
}
