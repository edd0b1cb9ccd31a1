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
 * The ecosystem's front door: the control interface below `/simulator`, signing in, and everything else is the account
 * document. With `apiUrl`, whoever asks for the document is sent on to that address.
 */
export function createFrontServer(ecosystem: Ecosystem, apiUrl: () => string | undefined): Server {
  return createEcosystemServer(ecosystem, (call) => {
    if (/^\/+simulator(\/|$)/.test(call.rawPath)) return answerControl;
    if (/^\/+login\/+oauth2\/*$/.test(call.rawPath)) return answerAuthorize;
    if (/^\/+oauth2(\/|$)/.test(call.rawPath)) return answerToken;
    if (isBrowserAtTheDoor(call)) return showHousePage;
    const base = apiUrl();
    return base === undefined ? answerRest : () => redirectRest(ecosystem, call, base);
  });
}

/** The second door, where nothing but the account document is. */
export function createApiServer(ecosystem: Ecosystem): Server {
  return createEcosystemServer(ecosystem, () => answerRest);
}

function createEcosystemServer(ecosystem: Ecosystem, choose: (call: Call) => Answer): Server {
  return createServer((request, response) => {
    // A reader that goes away in the middle of an answer is nobody's error.
    request.on("error", () => {});
    response.on("error", () => {});
    const call = readCall(request, response);
    const answer = async () => choose(call)(ecosystem, call);
    answer().catch(() => response.destroy());
  });
}

/** A person who types the address sees a page; a program with a token never does. */
function isBrowserAtTheDoor({ method, rawPath, query, request }: Call): boolean {
  const { accept = "", authorization } = request.headers;
  const isProgram = authorization !== undefined || query.has("auth") || accept.includes("text/event-stream");
  return method === "GET" && rawPath === "/" && accept.includes("text/html") && !isProgram;
}
