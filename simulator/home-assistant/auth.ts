import type { IncomingMessage, ServerResponse } from "node:http";
import type { Tokens } from "./tokens.ts";

/** The token endpoints: renewal and revocation. Their bodies are forms. */
export async function answerAuth(
  request: IncomingMessage,
  response: ServerResponse,
  { tokens, deleteToken }: { readonly tokens: Tokens; readonly deleteToken: (token: string) => void },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  const field = (name: string) => form.get(name) ?? "";
  const answer = (status: number, body?: object) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(body && JSON.stringify(body));
  };
  if (request.method !== "POST") return answer(404);
  if (request.url === "/auth/revoke") {
    deleteToken(field("token"));
    return answer(200);
  }
  if (request.url !== "/auth/token") return answer(404);
  if (field("grant_type") !== "refresh_token") return answer(400, { error: "unsupported_grant_type" });
  const accessToken = tokens.refresh(field("refresh_token"), field("client_id"));
  if (accessToken === undefined) return answer(400, { error: "invalid_grant" });
  // The refresh token stays the same, and the answer has none.
  answer(200, { access_token: accessToken, token_type: "Bearer", expires_in: 1_800 });
}
