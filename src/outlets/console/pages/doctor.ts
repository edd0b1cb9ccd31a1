import { type Html, html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { type Mood, state } from "../kit/state.ts";
import { tableOf } from "../kit/table.ts";

interface ShownCheck {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly words: string;
  readonly next?: string;
}

const states: Readonly<Record<ShownCheck["state"], readonly [mood: Mood, words: string]>> = {
  ok: ["good", "ok"],
  warn: ["warn", "warning"],
  fail: ["bad", "failed"],
};

/** The checks of `breezeway doctor` as the node that answers makes them, when `?check=1` asks for them. */
export async function doctorPart(context: PageContext): Promise<Html | undefined> {
  const { callOf, call, address, parameter, baseUrl, wants } = context;
  const checking = callOf("self-check");
  if (!checking || !wants("doctor")) return undefined;
  const again = html`<p class="asks"><a class="button" href="${address("/system", { check: "1" })}">Check now</a></p>
${asCommand(checking, {}, baseUrl)}`;
  const title = html`<h2>Doctor</h2>`;
  if (parameter("check") !== "1") {
    return html`${title}
<p>The service checks its machine, its settings, its store and the addresses that it needs. It changes nothing.</p>
${again}`;
  }
  const { node, checks } = (await call("self-check")) as { node: string; checks: readonly ShownCheck[] };
  return html`${title}
<p class="small">Checked by node <span class="code">${node}</span>.</p>
${tableOf<ShownCheck>(
  "Checks",
  [
    { title: "Result", cell: ({ state: result }) => state(...states[result]) },
    { title: "Check", cell: ({ check }) => check },
    {
      title: "What was seen",
      cell: ({ words, next }) =>
        html`<bdi dir="ltr">${words}</bdi>${next === undefined ? undefined : html`<br><span class="soft">${next}</span>`}`,
    },
  ],
  checks,
)}
${again}`;
}
