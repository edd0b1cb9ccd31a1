import { html } from "../../../web/html.ts";
import type { ConsolePage } from "../console-page.ts";
import { tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/assistants";

export interface ShownOutlet {
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
  rail: "Assistants",
  subject: "tenants",
  async render({ call, address, nowMs, tenant }) {
    const { outlets } = await call("outlet list", tenant ? { tenant: String(tenant.tenantId) } : {});
    const chosen = tenant?.name ?? "NAME";
    const setUp = html`<h2>Connect an assistant</h2>
<p>On the service's machine; the command asks for the secrets, and prints what the maker's console must be told.</p>
<h3>Google Home</h3>
<pre tabindex="0">breezeway outlet add google-home --tenant '${chosen}' --project-id ID --service-account key.json</pre>
<h3>Alexa</h3>
<pre tabindex="0">breezeway outlet add alexa --tenant '${chosen}' --help</pre>`;
    if (outlets.length === 0) return { list: html`<p>No assistant is connected yet.</p>`, setUp };
    return {
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
          { title: "Added", cell: ({ created }) => when(created, nowMs) },
        ],
        outlets,
      ),
      setUp: html`<details><summary>Connect another assistant</summary>${setUp}</details>`,
    };
  },
};
