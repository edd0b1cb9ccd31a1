import type { IncomingMessage, ServerResponse } from "node:http";
import { answerSceneControl } from "../control/scene-control.ts";
import { type Call, readCall, readForm, readJson, sendJson } from "../http/call.ts";
import { refuseOtherSites } from "../http/other-sites.ts";
import { sendPage } from "../pages/page.ts";
import { Refusal } from "../refusal.ts";
import { answerRevoke, answerToken, type TokenParts } from "./auth.ts";
import { type AuthorizeParts, answerAuthorize } from "./authorize.ts";
import { instancePage } from "./pages/house-page.ts";
import { alarmsOf, entitiesOf, scenes } from "./scenes.ts";

export interface HttpParts extends TokenParts, AuthorizeParts {
  readonly playScene: (name: string) => void;
}

type Answer = (call: Call, parts: HttpParts) => void | Promise<void>;

/** What the instance answers over HTTP, by method and path. */
const answers: Readonly<Record<string, Answer>> = {
  "GET /auth/authorize": answerAuthorize,
  "POST /auth/authorize": answerAuthorize,
  "POST /auth/token": answerToken,
  "POST /auth/revoke": answerRevoke,
  "GET /": (call, { instance }) => sendPage(call, 200, instancePage(instance)),
  "POST /simulator/scene": answerScene,
  "GET /api/": answerApi,
  "GET /manifest.json": (call) => sendJson(call, 200, { name: "Home Assistant", short_name: "Assistant" }),
};

export function answerHttp(request: IncomingMessage, response: ServerResponse, parts: HttpParts): void {
  // A client may disconnect in the middle of an answer.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  const call = readCall(request, response);
  const answer = answers[`${call.method} ${call.rawPath}`] ?? answerControl;
  Promise.resolve(answer(call, parts)).catch(() => response.destroy());
}

/** An instance is one account. */
async function answerControl(call: Call, { instance, playScene }: HttpParts): Promise<void> {
  const account = {
    accountId: "instance",
    structures: [{ name: instance.locationName }],
    thermostats: entitiesOf(instance, "climate").length,
    alarms: alarmsOf(instance).length,
  };
  const play = (_: string, scene: string) => playScene(scene);
  const isAnswered = await answerSceneControl(call, { accounts: [account], scenes, play }, () => readJson(call));
  if (!isAnswered) call.response.writeHead(404, { "Content-Length": 0 }).end();
}

/** Plays a scene and shows the page again; a refusal is shown on the page. */
async function answerScene(call: Call, { instance, playScene }: HttpParts): Promise<void> {
  try {
    refuseOtherSites(call);
    playScene((await readForm(call)).get("scene") ?? "");
    call.response.writeHead(303, { Location: "/", "Content-Length": 0 }).end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sendPage(call, error.status, instancePage(instance, error.message));
  }
}

/** The root of the REST interface: whether a token is valid. */
function answerApi(call: Call, { tokens }: HttpParts): void {
  const token = call.request.headers.authorization?.replace(/^Bearer /, "");
  if (tokens.isValid(token)) sendJson(call, 200, { message: "API running." });
  else call.response.writeHead(401, { "Content-Length": 0 }).end();
}
