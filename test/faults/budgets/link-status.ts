import type { Target } from "./attack.ts";
import { sendRequest } from "./requests.ts";

export interface LinkState {
  readonly state: string;
  readonly reason: string;
}

const path = "/adaptor/federatedtokens";

/** The state of the attacker's link, as the service shows it; `no answer` when it gives none. */
export async function linkState({ url, secToken }: Target, ecosystem: string): Promise<LinkState> {
  const query = new URLSearchParams({ secToken, anEcosystemName: ecosystem });
  try {
    const { state, reason } = JSON.parse((await sendRequest(url, { path: `${path}?${query}` })).text);
    return { state: String(state), reason: String(reason ?? "") };
  } catch {
    return { state: "no answer", reason: "" };
  }
}

export function shownState({ state, reason }: LinkState): string {
  return reason === "" ? state : `${state}: ${reason}`;
}

/** Links an account, or replaces its token; returns the answer in words. */
export async function sendToken(
  { url, secToken }: Target,
  method: "POST" | "PUT",
  { ecosystem, token, address }: { readonly ecosystem: string; readonly token: string; readonly address?: string },
): Promise<string> {
  const form = { secToken, anEcosystemName: ecosystem, anAccessToken: token, anEcosystemUrl: address ?? "" };
  try {
    const { status, text } = await sendRequest(url, { method, path, form });
    return status === 200 ? "200" : `${status} ${text.slice(0, 200)}`;
  } catch (error) {
    return `no answer (${(error as Error).message})`;
  }
}
