import type { Json } from "../home/json.ts";
import { type Call, sendJson } from "../http/call.ts";
import { refuseOtherSites } from "../http/other-sites.ts";
import { Refusal } from "../refusal.ts";

/** What `breezeway sim` needs from a simulator: accounts, and scenes to play in them. */
export interface SceneControl {
  readonly accounts: readonly SimulatedAccount[];
  readonly scenes: ReadonlyMap<string, { readonly label: string }>;
  /** Throws a refusal for an unknown scene. */
  readonly play: (accountId: string, scene: string) => void;
}

interface SimulatedAccount {
  readonly accountId: string;
  readonly structures: readonly { readonly name: string }[];
  readonly thermostats: number;
  readonly alarms: number;
}

/**
 * `GET /simulator/accounts`, `GET /simulator/scenes` and `POST /simulator/accounts/{id}/scene`, as the Works with Nest
 * simulator has them. Returns false for another path.
 */
export async function answerSceneControl(
  call: Call,
  { accounts, scenes, play }: SceneControl,
  readInput: () => Json | Promise<Json>,
): Promise<boolean> {
  const { method, rawPath } = call;
  const [, accountId] = /^\/simulator\/accounts\/([\w-]+)\/scene$/.exec(rawPath) ?? [];
  try {
    refuseOtherSites(call);
    if (method === "GET" && rawPath === "/simulator/accounts") sendJson(call, 200, { accounts });
    else if (method === "GET" && rawPath === "/simulator/scenes") {
      sendJson(call, 200, { scenes: [...scenes].map(([name, { label }]) => ({ name, meaning: label })) });
    } else if (method === "POST" && accountId !== undefined) {
      if (!accounts.some((account) => account.accountId === accountId)) {
        throw new Refusal(404, "not_found", `There is no account ${accountId}.`);
      }
      const { scene } = (await readInput()) as { readonly scene?: unknown };
      play(accountId, String(scene));
      sendJson(call, 200, { scene });
    } else if (rawPath === "/simulator/faults") {
      throw new Refusal(404, "not_found", "This simulator's faults are scenes. List them with: breezeway sim scenes");
    } else return false;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sendJson(call, error.status, { error: error.code, message: error.message });
  }
  return true;
}
