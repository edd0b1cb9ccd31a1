import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { actionButton } from "../action.ts";
import type { PageContext } from "../console-page.ts";
import { type Ask, typed } from "./ask.ts";
import { tableOf } from "./table.ts";
import { when } from "./times.ts";

/** The operator whose sessions or tokens are listed. */
export interface CredentialOwner {
  readonly operatorId: number;
  readonly name: string;
}

export interface CredentialList {
  readonly title: string;
  readonly list: string;
  readonly member: string;
  readonly id: string;
  readonly end: string;
  readonly words: string;
  readonly shows: (one: Readonly<Record<string, string>>) => string;
}

export const browsersList: CredentialList = {
  title: "Signed-in browsers",
  list: "operator sessions list",
  member: "sessions",
  id: "sessionId",
  end: "operator sessions end",
  words: "Sign out",
  shows: ({ userAgent, address: from }) => `${userAgent || "unknown browser"} from ${from}`,
};

export const tokensList: CredentialList = {
  title: "Tokens of programs",
  list: "operator token list",
  member: "tokens",
  id: "tokenId",
  end: "operator token revoke",
  words: "Revoke",
  shows: ({ name }) => String(name),
};

/** A list with a way to end each entry. Only an owner sees those of others. */
export async function credentials(
  { callIfAllowed, callOf, operator: self, address, nowMs }: PageContext,
  here: string,
  { operatorId, name }: CredentialOwner,
  { title, list, member, id, end, words, shows }: CredentialList,
): Promise<Html | undefined> {
  if (self.role !== "owner" && self.operatorId !== operatorId) return undefined;
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
          to: address(here, { done: end }),
          words,
          about: `${shows(one)}, of ${name}`,
        }),
    },
  ],
  found,
)}`;
}

/** The form that makes a token of an operator. Only an owner makes one for others. */
export function makeToken({ operator: self }: PageContext, { operatorId, name }: CredentialOwner): readonly Ask[] {
  if (self.role !== "owner" && self.operatorId !== operatorId) return [];
  const input = { operator: String(operatorId) };
  return [
    {
      name: "token",
      act: "operator token make",
      link: "Make a token",
      title: "Make a token",
      words: html`A program that sends it has all rights of ${named(name)}. It is shown once.`,
      input,
      fields: html`${typed({ option: "name", label: "What it is for", isRequired: true, isFirst: true })}
${typed({ option: "days", label: "Days that it is valid", hint: "1 to 366.", type: "number", value: "90", isRequired: true })}`,
      example: { ...input, name: "deploy", days: "90" },
      button: "Make",
    },
  ];
}
