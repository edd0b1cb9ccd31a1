import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk } from "../kit/ask.ts";
import { factsOf, tableOf } from "../kit/table.ts";
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
    return {
      ask: openAsk(context, here, asks),
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
      sessions: await credentials(context, shown, {
        title: "Signed-in browsers",
        list: "operator sessions list",
        member: "sessions",
        id: "sessionId",
        end: "operator sessions end",
        words: "Sign out",
        shows: ({ userAgent, address: from }) => `${userAgent || "unknown browser"} from ${from}`,
      }),
      tokens: await credentials(context, shown, {
        title: "Tokens of programs",
        list: "operator token list",
        member: "tokens",
        id: "tokenId",
        end: "operator token revoke",
        words: "Revoke",
        shows: ({ name }) => String(name),
      }),
    };
  },
};

interface CredentialList {
  readonly title: string;
  readonly list: string;
  readonly member: string;
  readonly id: string;
  readonly end: string;
  readonly words: string;
  readonly shows: (one: Readonly<Record<string, string>>) => string;
}

/** Only an owner sees those of others. */
async function credentials(
  { callIfAllowed, callOf, operator: self, address, nowMs }: PageContext,
  { operatorId, name }: ShownOperator,
  { title, list, member, id, end, words, shows }: CredentialList,
): Promise<Html | undefined> {
  if (self.role !== "owner") return undefined;
  const answer = await callIfAllowed(list, { operator: String(operatorId) });
  const found = (answer?.[member] ?? []) as readonly Readonly<Record<string, string>>[];
  if (found.length === 0) return html`<h2>${title}</h2><p>None.</p>`;
  return html`<h2>${title}</h2>
${tableOf<Readonly<Record<string, string>>>(
  title,
  [
    { title: "What", cell: (one) => html`<bdi>${shows(one)}</bdi>` },
    { title: "Begun", cell: ({ created }) => when(created, nowMs) },
    { title: "Last used", cell: ({ used }) => when(used, nowMs) },
    { title: "Ends", cell: ({ expires }) => when(expires, nowMs) },
    {
      title: "Action",
      cell: (one) =>
        callOf(end) &&
        actionButton({
          act: end,
          input: { id: one[id] ?? "" },
          to: address(`/operators/${operatorId}`, { done: end }),
          words,
          about: `${shows(one)}, of ${name}`,
        }),
    },
  ],
  found,
)}`;
}

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
