import { createServer, type Server } from "node:http";
import { answerControl } from "../control/control.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { answerAuthorize } from "../oauth/authorize.ts";
import { answerToken } from "../oauth/token.ts";
import { showHousePage } from "../pages/house-page-answers.ts";
import { answerRest, redirectRest } from "../rest/rest.ts";
import { type Call, readCall } from "./call.ts";

type Answer = (ecosystem: Ecosystem, call: Call) => void | Promise<void>;

/**
 * The main server: the control interface below `/simulator`, OAuth, the page of the house for a browser at `/`, and the
 * account document under all other paths. With `apiUrl`, requests for the document are redirected to that address.
 */
export function createFrontServer(ecosystem: Ecosystem, apiUrl: () => string | undefined): Server {
  return createEcosystemServer(ecosystem, (call) => {
    if (/^\/+simulator(\/|$)/.test(call.rawPath)) return answerControl;
    if (/^\/+login\/+oauth2\/*$/.test(call.rawPath)) return answerAuthorize;
    if (/^\/+oauth2(\/|$)/.test(call.rawPath)) return answerToken;
    if (isBrowserRequest(call)) return showHousePage;
    const base = apiUrl();
    return base === undefined ? answerRest : () => redirectRest(ecosystem, call, base);
  });
}

/** The second host, which serves only the account document. */
export function createApiServer(ecosystem: Ecosystem): Server {
  return createEcosystemServer(ecosystem, () => answerRest);
}

function createEcosystemServer(ecosystem: Ecosystem, choose: (call: Call) => Answer): Server {
  return createServer((request, response) => {
    // A client may disconnect in the middle of an answer.
    request.on("error", () => {});
    response.on("error", () => {});
    const call = readCall(request, response);
    const answer = async () => choose(call)(ecosystem, call);
    answer().catch(() => response.destroy());
  });
}

/** Whether a browser opens the root address. A program with a token gets the account document instead. */
function isBrowserRequest({ method, rawPath, query, request }: Call): boolean {
  const { accept = "", authorization } = request.headers;
  const isProgram = authorization !== undefined || query.has("auth") || accept.includes("text/event-stream");
  return method === "GET" && rawPath === "/" && accept.includes("text/html") && !isProgram;
}
