import type { IncomingMessage, ServerResponse } from "node:http";
import { answerSceneControl, type SceneControl } from "../control/scene-control.ts";
import { type Call, readCall } from "../http/call.ts";
import { sendPage } from "../pages/page.ts";
import type { Fields } from "./account.ts";
import { answerDevices, type DevicesApiParts } from "./devices-api.ts";
import type { Area, Faults } from "./faults.ts";
import { answerHouse, type HouseParts } from "./house-answers.ts";
import { answerConsent, answerRevocation, answerToken, type OAuthAnswer, type OAuthParts } from "./oauth.ts";
import { badValue, notFound, Refused } from "./refused.ts";
import { scenes, thermostatsOf } from "./scenes.ts";
import type { Subscription } from "./subscription.ts";

export interface AnswerParts extends OAuthParts, DevicesApiParts, HouseParts {
  readonly projectId: string;
  readonly url: string;
  readonly subscriptionName: string;
  readonly subscription: Subscription;
  readonly faults: Faults;
}

/** Answers one request of any of the simulated services. */
export async function answer(parts: AnswerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET" } = request;
  const { pathname, searchParams } = new URL(request.url ?? "/", parts.url);
  const call = readCall(request, response);
  const body = await bodyOf(request);
  response.setHeader("Date", new Date(parts.nowMs()).toUTCString());
  try {
    const area = areaOf(pathname);
    if (area) await applyFault(parts.faults, area, response);
    if (pathname === `/partnerconnections/${parts.projectId}/auth`) {
      return sendOAuth(call, answerConsent(parts, method, searchParams, new URLSearchParams(body)));
    }
    if (method === "POST" && pathname === "/token") {
      return sendOAuth(call, answerToken(parts, `${parts.url}/token`, new URLSearchParams(body)));
    }
    if (method === "POST" && pathname === "/revoke") {
      return sendOAuth(call, answerRevocation(parts, new URLSearchParams(body)));
    }
    if (pathname === "/" || pathname.startsWith("/simulator/")) {
      if (await answerSceneControl(call, sceneControl(parts), () => JSON.parse(body))) return;
      return answerHouse(parts, call, new URLSearchParams(body));
    }
    if (!pathname.startsWith("/v1/")) throw notFound();
    const path = decodeURIComponent(pathname.slice("/v1/".length));
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (path.startsWith("projects/")) return send(response, 200, await answerFeed(parts, path, token, body, response));
    const account = parts.tokens.accountOf(token);
    if (!account) throw unauthenticated();
    response.setHeader("userId", account.userId);
    parts.log.record(method === "POST" ? "command" : "request", account.userId, { method, path, body });
    send(response, 200, answerDevices(parts, { account, method, path, body: parsed(body) }));
  } catch (error) {
    if (error instanceof Hang) return;
    if (!(error instanceof Refused)) throw error;
    const { status, code, message } = error;
    send(response, status, { error: { code: status, message, status: code } });
  }
}

function sceneControl({ accounts, playScene }: HouseParts): SceneControl {
  const summaries = [...accounts.values()].map((account) => ({
    accountId: account.userId,
    structures: [...account.structures.values()].map(({ customName }) => ({ name: customName })),
    thermostats: thermostatsOf(account).length,
    alarms: 0,
  }));
  return { accounts: summaries, scenes, play: (accountId, scene) => playScene(accounts.get(accountId)!, scene) };
}

async function answerFeed(
  { tokens, subscription, subscriptionName }: AnswerParts,
  path: string,
  token: string,
  text: string,
  response: ServerResponse,
): Promise<object> {
  if (!tokens.isServiceToken(token)) throw unauthenticated();
  const [name, verb] = path.split(":");
  if (name !== subscriptionName) throw notFound(`Resource not found (resource=${name}).`);
  const { maxMessages = 0, ackIds = [], ackDeadlineSeconds } = parsed(text) as Record<string, never>;
  if (verb === "pull") {
    if (!(maxMessages > 0))
      throw badValue("You have passed an invalid argument to the service (argument=max_messages).");
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const receivedMessages = await subscription.pull(maxMessages, gone.signal);
    return receivedMessages.length === 0 ? {} : { receivedMessages };
  }
  if (verb === "acknowledge") subscription.acknowledge(ackIds);
  else if (verb === "modifyAckDeadline") subscription.modifyAckDeadline(ackIds, Number(ackDeadlineSeconds ?? 10));
  else throw notFound();
  return {};
}

/** The request gets no answer: its connection stays open. */
class Hang extends Error {}

async function applyFault(faults: Faults, area: Area, response: ServerResponse): Promise<void> {
  const fault = faults.of(area);
  if (!fault) return;
  if (fault.kind === "hangs") throw new Hang();
  if (fault.kind === "refuses") {
    if (fault.retryAfterSeconds !== undefined) response.setHeader("Retry-After", fault.retryAfterSeconds);
    throw new Refused(fault.status, fault.code, fault.message);
  }
  await new Promise((resolve) => setTimeout(resolve, fault.byMs));
}

/** Which calls a request belongs to; undefined for pages. */
function areaOf(pathname: string): Area | undefined {
  if (pathname.startsWith("/v1/projects/")) return "feed";
  if (pathname.startsWith("/v1/")) return "devices";
  return pathname === "/token" || pathname === "/revoke" ? "tokens" : undefined;
}

function unauthenticated(): Refused {
  const message = "Request had invalid authentication credentials. Expected OAuth 2 access token.";
  return new Refused(401, "UNAUTHENTICATED", message);
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "Content-Type": "application/json; charset=UTF-8" }).end(JSON.stringify(body));
}

function sendOAuth(call: Call, { status, body, page, location }: OAuthAnswer): void {
  const { response } = call;
  if (location !== undefined) return void response.writeHead(status, { Location: location }).end();
  if (page) sendPage(call, status, page);
  else send(response, status, body ?? {});
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): Fields {
  try {
    const value = text === "" ? {} : JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Refused below.
  }
  throw badValue("Invalid JSON payload received.");
}
