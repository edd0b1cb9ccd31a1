import { send } from "./request.ts";

/**
 * Ends a token at the ecosystem. It is asked at its own address and nowhere else: the token stands in the path, so a
 * redirect is not followed. True when the token is known to be ended, also when it was before.
 */
export async function revokeToken(tokensUrl: URL, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    const url = new URL(`${tokensUrl.pathname.replace(/\/$/, "")}/${encodeURIComponent(token)}`, tokensUrl);
    const response = await send(url, { method: "DELETE", headers: { Accept: "application/json" } }, signal);
    response.destroy();
    return response.statusCode === 204 || response.statusCode === 200 || response.statusCode === 404;
  } catch {
    return false;
  }
}
