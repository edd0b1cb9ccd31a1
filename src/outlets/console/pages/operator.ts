import { html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk } from "../kit/ask.ts";
import { browsersList, credentials, makeToken, tokensList } from "../kit/credentials.ts";
import { factsOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { operatorState, reachFields, reachOf, roleWords, type ShownOperator } from "./operators.ts";

/** One operator, with the signed-in browsers and the tokens. */
export const operator: ConsolePage = {
  path: "/operators/:operator",
  title: "Operator",
  subject: "deployment",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const shown: ShownOperator = await call("operator show", { operator: parameter("operator") });
    const here = `/operators/${shown.operatorId}`;
    const asks = asksOf(context, shown);
    const tokenAsks = makeToken(context, shown);
    return {
      ask: openAsk(context, here, [...asks, ...tokenAsks]),
      operator: html`<p><a href="${address("/operators")}">All operators</a></p>
<h2>${named(shown.name)}</h2>
${factsOf([
  ["Role", roleWords[shown.role] ?? shown.role],
  ["Tenants", reachOf(shown)],
  ["State", operatorState(shown)],
  ["Added", when(shown.created, nowMs)],
  ["Signed in", when(shown.signedIn, nowMs)],
])}
${askLinks(context, here, asks)}`,
      sessions: await credentials(context, here, shown, browsersList),
      tokens: html`${await credentials(context, here, shown, tokensList)}
${askLinks(context, here, tokenAsks)}`,
    };
  },
};

function asksOf(context: PageContext, shown: ShownOperator): readonly Ask[] {
  const input = { operator: String(shown.operatorId) };
  const name = named(shown.name);
  return [
    {
      name: "role",
      act: "operator role",
      link: "Change the role",
      title: "Change the role",
      words: "It counts at once.",
      input,
      fields: reachFields(
        context,
        shown.role,
        shown.tenants.map((tenant) => tenant.name),
      ),
      example: { ...input, role: shown.role },
      button: "Save",
    },
    shown.suspended
      ? {
          name: "resume",
          act: "operator resume",
          link: "Resume",
          title: "Resume the operator",
          words: html`${name} may sign in again.`,
          input,
          button: "Resume",
        }
      : {
          name: "suspend",
          act: "operator suspend",
          link: "Suspend",
          title: "Suspend the operator",
          words: html`All sessions and tokens of ${name} end at once, on every node.`,
          input,
          button: "Suspend",
          isGrave: true,
        },
    {
      name: "remove",
      act: "operator remove",
      link: "Remove",
      title: "Remove the operator",
      words: html`${name} is removed with all sessions and tokens. Entries of the audit log stay.`,
      input,
      button: "Remove",
      isGrave: true,
      afterwards: context.address("/operators", { done: "operator remove" }),
    },
  ];
}
