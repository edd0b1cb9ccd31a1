import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { PageContext } from "../console-page.ts";
import { type Ask, askLink } from "./ask.ts";
import { pager, tableOf } from "./table.ts";
import { when } from "./times.ts";

interface ShownGrant {
  readonly grantId: string;
  readonly userId: number | null;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly covers: "user" | "tenant";
  readonly scope: string | null;
  readonly created: string;
  readonly lastUsed: string | null;
}

/** Whose grants a page lists: `{ client: "bwc_…" }` or `{ user: "3" }`. */
export type GrantsOf = { readonly client: string } | { readonly user: string };

/** The grants of a client or of a user, each with a way to end it. */
export async function grantsPart(context: PageContext, here: string, of: GrantsOf): Promise<Html> {
  const { call, address, nowMs, parameter } = context;
  const cursor = parameter("cursor");
  const answer = await call("grant list", { ...of, "page-size": "50", ...(cursor !== undefined && { cursor }) });
  const grants = answer.grants as readonly ShownGrant[];
  if (grants.length === 0) {
    if (cursor !== undefined) return html`<p>No further access.</p>${pager(context, here, [], undefined)}`;
    return html`<p>${"client" in of ? "Nobody has given it access yet." : "No app has access."}</p>`;
  }
  const who = ({ userId, clientId, clientName, covers }: ShownGrant) => {
    if ("user" in of) return html`<a href="${address(`/clients/${clientId}`)}">${named(clientName ?? clientId)}</a>`;
    if (userId === null) return "the client itself";
    const user = html`<a href="${address(`/users/${userId}`)}">user ${userId}</a>`;
    return covers === "tenant" ? html`${user}, for the whole tenant` : user;
  };
  return html`${tableOf<ShownGrant>(
    "Access",
    [
      { title: "user" in of ? "App" : "Given by", cell: who },
      { title: "May do", cell: ({ scope }) => scope ?? "everything" },
      { title: "Since", cell: ({ created }) => when(created, nowMs) },
      {
        title: "Last used",
        cell: ({ lastUsed }) => (lastUsed === null ? html`<span class="soft">not known</span>` : when(lastUsed, nowMs)),
      },
      { title: "Action", cell: ({ grantId }) => askLink(context, here, endGrant(of, grantId), `access ${grantId}`) },
    ],
    grants,
  )}
${pager(context, here, [], answer.cursor)}`;
}

/** The form that ends the grant of the address. */
export function endGrant(of: GrantsOf, grant: string): Ask {
  return {
    name: "end-access",
    act: "grant end",
    link: "End",
    title: "End this access",
    words: "The app loses it at once, on every node: its access tokens and its refresh tokens are refused.",
    input: { grant, ...of },
    more: { grant },
    button: "End the access",
    isGrave: true,
  };
}
