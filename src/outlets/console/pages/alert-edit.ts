import { html } from "../../../web/html.ts";
import { attributesOf, check, homeOf, preview } from "../alerts/checked-draft.ts";
import { draftFields, draftOf, fieldOf, fitsForm } from "../alerts/draft.ts";
import { editorForm } from "../alerts/editor.ts";
import type { ShownAlert } from "../alerts/shown-alert.ts";
import type { ConsolePage } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { refusal } from "../kit/refused.ts";

/** Changes an alert in the sentence editor: what it compares and does. What it watches stays. */
export const editAlert: ConsolePage = {
  path: "/alerts/:user/:alert/edit",
  title: "Edit an alert",
  subject: "tenants",
  query: ["check", "choose", ...draftFields],
  partsNotRefreshed: ["sentence", "check"],
  async render(context) {
    const { parameter, wants, address, call, callOf, baseUrl } = context;
    if (!wants("sentence") && !wants("check")) return {};
    const input = { user: parameter("user")!, alert: parameter("alert")! };
    const { alert }: { readonly alert: ShownAlert } = await call("home alert show", input);
    const here = `/alerts/${alert.userId}/${alert.alertId}`;
    const back = html`<p><a href="${address(here)}">Back to the alert</a></p>
<h2><bdi>${alert.sentence}</bdi></h2>`;
    const edit = callOf("home alert edit");
    if (!fitsForm(alert)) {
      return {
        sentence: html`${back}
<p>This alert does several things at once, and this form has room for one. Change it on a command line, or through the interface.</p>
${edit && asCommand(edit, input, baseUrl)}`,
      };
    }
    const found = await homeOf(context, input.user);
    const draft = draftOf(context, alert);
    const home = { ...found, attributes: await attributesOf(context, input.user, draft) };
    const checked = parameter("check") === undefined ? undefined : await check(context, input.user, draft);
    const refused = checked && "refused" in checked ? checked.refused : undefined;
    const isElsewhere = refused !== undefined && fieldOf(refused) === undefined;
    const change = { act: "home alert edit", to: address(here), input, words: "Change this alert" };
    return {
      sentence: html`${back}
<p class="small">The alert keeps its id and its history. When only its acts or its message change, it stays armed or waiting. With another condition or field it is armed, as a new alert is.</p>
${isElsewhere ? refusal(refused) : undefined}
${editorForm(context, { path: `${here}/edit`, fields: {}, isMade: true }, home, draft, refused)}`,
      check: checked && "previewed" in checked ? preview(context, change, checked) : undefined,
    };
  },
};
