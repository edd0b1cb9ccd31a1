import type { Outlet } from "../../../assistants/outlets.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdministrationParts } from "../../administration/admin-command.ts";
import { idByPrefix } from "../../id-prefix.ts";
import { type Input, id, optional, text } from "../../input.ts";

/** The argument that names an outlet. */
export const outletArgument = {
  name: "outlet",
  meaning: "the outlet's id or the beginning of it; see: breezeway outlet list",
};

export async function chosenOutlet({ outlets }: AdministrationParts["assistants"], input: Input): Promise<Outlet> {
  const all = await outlets.list();
  const known = all.map((outlet) => ({ id: outlet.id, words: outlet.kind }));
  const chosen = idByPrefix("outlet", text(input, "outlet"), known);
  return all.find((outlet) => outlet.id === chosen)!;
}

/** The facts of an outlet that `outlet list` and `outlet show` print. */
export function shownOutlet({ id: outlet, kind, clientId, createdMs }: Outlet, tenant: string | undefined) {
  return { outlet, kind, tenant, client_id: clientId, created: new Date(createdMs).toISOString() };
}

/** The user that the option `--user` names. */
export function chosenUser(input: Input): UserId | undefined {
  return optional(input, "user") === undefined ? undefined : id<UserId>(input, "user");
}
