import { createServer, type Server } from "node:http";
import { answerControl } from "../control/control.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { answerRest } from "../rest/rest.ts";
import { type Call, readCall } from "./call.ts";

/** The ecosystem's one door: its control interface below `/simulator`, everything else is the account document. */
export function createEcosystemServer(ecosystem: Ecosystem): Server {
  return createServer((request, response) => {
    // A reader that goes away in the middle of an answer is nobody's error.
    request.on("error", () => {});
    response.on("error", () => {});
    const call = readCall(request, response);
    const answer = isControl(call) ? answerControl : answerRest;
    answer(ecosystem, call).catch(() => response.destroy());
  });
}

function isControl({ rawPath }: Call): boolean {
  return /^\/+simulator(\/|$)/.test(rawPath);
}
