import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, jsonTextAnswer } from "../../http/answer/answer.ts";
import { corsHeaders } from "../../http/answer/cors.ts";
import { failureAnswer } from "../../http/answer/error-response.ts";
import type { PreparedAnswer } from "../../http/answer/prepared-answer.ts";
import type { FastPath } from "../../http/app.ts";
import { headersRefusal } from "../../http/connection/malformed-requests.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { Exchanges } from "../../http/open-exchanges.ts";
import type { Callers } from "../../http/request/caller.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";
import { requireScopes } from "../../model/scope-errors.ts";
import { type CurrentDeviceParts, currentDevice } from "./current-device.ts";
import type { DeviceAnswerCache } from "./device-body.ts";
import { devicePath, deviceReadScopes } from "./device-routes.ts";

export interface FastPathParts {
  readonly exchanges: Exchanges;
  readonly callers: Pick<Callers, "byAccessToken" | "admit">;
  readonly v3: CurrentDeviceParts;
  readonly deviceAnswers: DeviceAnswerCache;
  readonly corsOrigins: readonly string[];
}

/**
 * The fast path in front of Fastify for the most frequent request: `GET /v3/devices/{id}` with a token and nothing
 * unusual. It calls the same parts as the route and answers with the same bytes. It leaves every request that it does not
 * recognise untouched, for the route.
 */
export function deviceFastPath({ exchanges, callers, v3, deviceAnswers, corsOrigins }: FastPathParts): FastPath {
  const answer = async (exchange: Exchange, bearer: string, deviceId: DeviceId) => {
    let prepared: PreparedAnswer;
    try {
      const caller = await callers.byAccessToken(bearer);
      exchange.caller = caller;
      callers.admit?.(caller, true);
      requireScopes(caller, deviceReadScopes);
      const current = currentDevice(v3, caller, deviceId);
      prepared = deviceAnswers.answer(current instanceof Promise ? await current : current, caller);
    } catch (error) {
      return sendPlainly(exchange, failureAnswer(error, "standard", exchange));
    }
    send(exchange, prepared);
  };
  const send = (exchange: Exchange, prepared: PreparedAnswer) => {
    const { response, requestId } = exchange;
    const { socket } = response;
    // A pipelined response has no socket before its turn, and the head of an answer during a drain differs.
    if (!socket?.writable || exchanges.isDraining) return sendPlainly(exchange, jsonTextAnswer(200, prepared.body));
    // One write of head and body takes 16 % less CPU of the whole request than response.end (docs/decisions/010).
    socket.write(prepared.bytesFor(requestId));
    exchange.bytes = prepared.bodyBytes;
    const sent = () => {
      const isTaken = !socket.destroyed && !socket.errored;
      exchanges.finish(exchange, isTaken);
      // Node must believe that it sent the answer itself, so that it continues with the next request.
      if (isTaken) response.emit("finish");
    };
    if (socket.writableLength === 0) return sent();
    prepared.keep();
    exchanges.trackSocketWrite(exchange);
    socket.write("", sent);
  };
  const sendPlainly = (exchange: Exchange, { status, headers, body }: Answer) => {
    const { response } = exchange;
    // The client disconnected: drop the answer.
    if (response.destroyed) return exchanges.finish(exchange, false);
    exchanges.track(exchange);
    for (const [name, value] of Object.entries(corsHeaders(corsOrigins))) response.setHeader(name, value);
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
  };

  return (request, response) => {
    const deviceId = deviceIdOf(request);
    const bearer = deviceId && bearerOf(request, response, corsOrigins);
    if (!bearer) return false;
    const exchange = exchanges.begin(request, response);
    exchange.route = devicePath;
    void exchanges.work(exchange, () => answer(exchange, bearer, deviceId));
    return true;
  };
}

const pathStart = devicePath.replace(/:.*/, "");

function deviceIdOf({ url = "" }: IncomingMessage): DeviceId | undefined {
  return url.startsWith(pathStart) ? parseId<DeviceId>(url.slice(pathStart.length)) : undefined;
}

const scheme = "Bearer ";

/** The bearer token of a request in which nothing else can change the answer; undefined for every other request. */
function bearerOf(
  request: IncomingMessage,
  response: ServerResponse,
  corsOrigins: readonly string[],
): string | undefined {
  const { method, headers } = request;
  if (method !== "GET" || request.httpVersion !== "1.1" || !response.shouldKeepAlive) return undefined;
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) return undefined;
  if (corsOrigins.length > 0 && headers.origin !== undefined) return undefined;
  if (headersRefusal(request)) return undefined;
  const { authorization = "" } = headers;
  const bearer = authorization.startsWith(scheme) ? authorization.slice(scheme.length) : "";
  return bearer.startsWith(" ") ? undefined : bearer;
}
