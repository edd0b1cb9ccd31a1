import type { ActivityLog } from "../activity-log.ts";
import type { Call } from "../http/call.ts";
import { refuseOtherSites } from "../http/other-sites.ts";
import { sendPage } from "../pages/page.ts";
import { Refusal } from "../refusal.ts";
import type { Account } from "./account.ts";
import { addressOf, housePage } from "./pages/house-page.ts";

export interface HouseParts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly log: ActivityLog;
  /** Plays a scene as a person would. Throws a refusal for an unknown one. */
  readonly playScene: (account: Account, name: string) => void;
}

/** `GET /`: the page of an account. `POST /simulator/scene`: plays a scene and shows the page again. */
export function answerHouse({ accounts, log, playScene }: HouseParts, call: Call, form: URLSearchParams): void {
  const { method, rawPath, query, response } = call;
  const known = [...accounts.values()];
  const shown = accounts.get((method === "POST" ? form : query).get("account") ?? "") ?? known[0];
  const show = (status: number, notice?: string) =>
    sendPage(call, status, housePage({ accounts: known, shown, log, ...(notice !== undefined && { notice }) }));
  if (method === "GET" && rawPath === "/") {
    show(200);
    return;
  }
  try {
    refuseOtherSites(call);
    if (method !== "POST" || rawPath !== "/simulator/scene")
      throw new Refusal(404, "not_found", "There is no such page.");
    if (!shown) throw new Refusal(409, "no_account", "There is no account yet.");
    playScene(shown, form.get("scene") ?? "");
    response.writeHead(303, { Location: addressOf(shown), "Content-Length": 0 }).end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    show(error.status, error.message);
  }
}
