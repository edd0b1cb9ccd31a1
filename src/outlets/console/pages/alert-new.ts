import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { attributesOf, check, homeOf, preview } from "../alerts/checked-draft.ts";
import { draftFields, draftIn, fieldOf } from "../alerts/draft.ts";
import { editorForm } from "../alerts/editor.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { refusal } from "../kit/refused.ts";
import { filterForm } from "../kit/table.ts";

const path = "/alerts/new";

/** Makes an alert: first whose home, then the sentence, then what it would have done, and the button that makes it. */
export const newAlert: ConsolePage = {
  path,
  title: "New alert",
  subject: "tenants",
  query: ["user", "filter", "template", "check", "choose", ...draftFields],
  partsNotRefreshed: ["user", "sentence", "check"],
  async render(context) {
    const { parameter, wants } = context;
    const user = parameter("user") ?? "";
    if (user === "") return { user: await chooseUser(context) };
    if (!wants("sentence") && !wants("check")) return {};
    const found = await homeOf(context, user);
    const presence = found.things.find(({ traits }) => traits.presence)?.thingId;
    const draft = draftIn(context, presence);
    const home = { ...found, attributes: await attributesOf(context, user, draft) };
    const checked = parameter("check") === undefined ? undefined : await check(context, user, draft);
    const refused = checked && "refused" in checked ? checked.refused : undefined;
    const isElsewhere = refused !== undefined && fieldOf(refused) === undefined;
    return {
      sentence: html`<p><a href="${context.address(path, templateOf(context))}">Another user</a></p>
<h2>An alert of <bdi>${found.userName}</bdi></h2>
${isElsewhere ? refusal(refused) : undefined}
${editorForm(context, { path, fields: { user }, isMade: false }, home, draft, refused)}`,
      check:
        checked && "previewed" in checked
          ? preview(
              context,
              {
                act: "home alert add",
                to: context.address("/alerts", { user, done: "home alert add" }),
                input: { user },
                words: "Make this alert",
              },
              checked,
            )
          : undefined,
    };
  },
};

function templateOf({ parameter }: PageContext): Readonly<Record<string, string>> {
  const template = parameter("template");
  return template === undefined ? {} : { template };
}

/** Whose devices and things the alert is about. */
async function chooseUser(context: PageContext): Promise<Html> {
  const { call, address, tenant, parameter } = context;
  const filter = parameter("filter") ?? "";
  const { users } = await call("user list", {
    "page-size": "50",
    ...(filter !== "" && { filter }),
    ...(tenant && { tenant: String(tenant.tenantId) }),
  });
  const links = (users as readonly { readonly userId: number; readonly name: string; readonly tenant: string }[]).map(
    ({ userId, name, tenant: tenantName }) =>
      html`<li><a href="${address(path, { ...templateOf(context), user: String(userId) })}">${named(name)}</a> <span class="small"><bdi>${tenantName}</bdi></span></li>`,
  );
  return html`<h2>Whose home?</h2>
${filterForm(context, path, [{ name: "filter", label: "Name or id of a user" }])}
${links.length === 0 ? html`<p>No user fits.</p>` : html`<ul class="lines">${links}</ul>`}
<p class="small">The first 50 users that fit.</p>`;
}
