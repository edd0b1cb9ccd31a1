import type { Answer } from "./api.ts";
import { ServiceRefused, Unreachable } from "./api.ts";
import { refuseRedirect, unfollowed } from "./redirects.ts";

export interface ClientSecret {
  readonly id: string;
  readonly secret: string;
}

/** An access token for a client that has only its own secret to show. */
export async function clientToken(url: string, { id, secret }: ClientSecret): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret });
  let answer: Response;
  try {
    answer = await fetch(`${url}/oauth2/access_token`, { method: "POST", body, ...unfollowed });
  } catch (error) {
    throw new Unreachable(url, error);
  }
  refuseRedirect(answer, url);
  const told: Answer = await answer.json().catch(() => ({}));
  if (typeof told.access_token === "string") return told.access_token;
  const sentence = String(told.error_description ?? `The service at ${url} answered ${answer.status}.`);
  throw new ServiceRefused(answer.status, String(told.error ?? answer.status), sentence);
}
