import { OAuthClient } from "../../../sdk/src/index.ts";
import { commandError } from "./service-errors.ts";

export interface ClientSecret {
  readonly id: string;
  readonly secret: string;
}

/** An access token by the client credentials grant. */
export async function clientToken(url: string, { id, secret }: ClientSecret): Promise<string> {
  const oauth = new OAuthClient({ baseUrl: url, clientId: id, clientSecret: secret, retries: 0 });
  try {
    return (await oauth.asItself()).accessToken;
  } catch (error) {
    throw commandError(error, url, {});
  }
}
