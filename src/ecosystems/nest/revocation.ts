import { send } from "../../runtime/network/request.ts";

/**
 * Revokes a token at the ecosystem. The token is part of the path, so redirects are not followed. True when the token
 * is known to be revoked, also if it was before.
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
