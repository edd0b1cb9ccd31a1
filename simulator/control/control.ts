import type { Ecosystem } from "../ecosystem.ts";
import { type Call, readSegments, sendJson } from "../http/call.ts";
import { refuseOtherSites } from "../http/other-sites.ts";
import { notFound, Refusal } from "../refusal.ts";
import { type Route, routes } from "./routes.ts";

/** Handles the control interface: JSON under `/simulator`, errors as `{"error": code, "message": sentence}`. */
export async function answerControl(ecosystem: Ecosystem, call: Call): Promise<void> {
  try {
    refuseOtherSites(call);
    const [, ...segments] = readSegments(call);
    const samePath = routes.filter((route) => matches(route, segments));
    const route = samePath.find(({ method }) => method === call.method);
    if (route === undefined) throw noRoute(samePath, call);
    const parameters = segments.filter((_, place) => route.path[place] === "*");
    await route.answer(ecosystem, call, parameters[0] ?? "");
  } catch (error) {
    const refusal =
      error instanceof Refusal ? error : new Refusal(500, "internal", "The simulator failed on this call.");
    const body = { error: refusal.code, message: refusal.message };
    sendJson(call, refusal.status, body, {}, ecosystem.secrets);
  }
}

function matches(route: Route, segments: readonly string[]): boolean {
  if (route.path.length !== segments.length) return false;
  return route.path.every((part, place) => part === "*" || part === segments[place]);
}

function noRoute(samePath: readonly Route[], { method }: Call): Refusal {
  if (samePath.length === 0) return notFound("The control interface has no such path.");
  const allowed = samePath.map((route) => route.method).join(", ");
  return new Refusal(405, "method_not_allowed", `This path answers to ${allowed}, not to ${method}.`);
}
