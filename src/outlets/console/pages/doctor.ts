import { type Html, html } from "../../../web/html.ts";
import { actionButton } from "../action.ts";
import type { PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";

/**
 * A button that runs the checks of `breezeway doctor` on the node that answers. It is a POST, because each run is audited.
 */
export function doctorPart(context: PageContext): Html | undefined {
  const { callOf, address, baseUrl, wants } = context;
  const checking = callOf("self-check");
  if (!checking || !wants("doctor")) return undefined;
  return html`<h2>Doctor</h2>
<p>The service checks its machine, its settings, its store and the addresses that it needs. It changes nothing but the audit log.</p>
<p class="asks">${actionButton({ act: "self-check", to: address("/system"), words: "Check now" })}</p>
${asCommand(checking, {}, baseUrl)}`;
}
