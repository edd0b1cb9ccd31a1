import type { IncomingMessage, ServerResponse } from "node:http";
import { type Call, readCall, sendJson } from "../http/call.ts";
import { answerRevoke, answerToken, type TokenParts } from "./auth.ts";
import { type AuthorizeParts, answerAuthorize } from "./authorize.ts";

export type HttpParts = TokenParts & AuthorizeParts;

type Answer = (call: Call, parts: HttpParts) => void | Promise<void>;

/** What the instance answers over HTTP, by method and path. */
const answers: Readonly<Record<string, Answer>> = {
  "GET /auth/authorize": answerAuthorize,
  "POST /auth/authorize": answerAuthorize,
  "POST /auth/token": answerToken,
  "POST /auth/revoke": answerRevoke,
  "GET /api/": answerApi,
  "GET /manifest.json": (call) => sendJson(call, 200, { name: "Home Assistant", short_name: "Assistant" }),
};

export function answerHttp(request: IncomingMessage, response: ServerResponse, parts: HttpParts): void {
  // A client may disconnect in the middle of an answer.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  const call = readCall(request, response);
  const answer = answers[`${call.method} ${call.rawPath}`];
  if (!answer) return void response.writeHead(404, { "Content-Length": 0 }).end();
  Promise.resolve(answer(call, parts)).catch(() => response.destroy());
}

/** The root of the REST interface: whether a token is valid. */
function answerApi(call: Call, { tokens }: HttpParts): void {
  const token = call.request.headers.authorization?.replace(/^Bearer /, "");
  if (tokens.isValid(token)) sendJson(call, 200, { message: "API running." });
  else call.response.writeHead(401, { "Content-Length": 0 }).end();
}
