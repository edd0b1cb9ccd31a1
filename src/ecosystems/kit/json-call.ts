import type { IncomingHttpHeaders } from "node:http";
import { readBody } from "./body.ts";
import { isJsonObject, type JsonObject, parseJson } from "./parse-json.ts";
import { send } from "./request.ts";
import { readRetryAfter } from "./retry-after.ts";

export interface JsonCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
}

/** An answer of any status, or why there is none. Neither holds a token. */
export type JsonAnswer =
  | {
      readonly isAnswered: true;
      readonly status: number;
      /** Empty when the body is no JSON object. */
      readonly document: JsonObject;
      readonly headers: IncomingHttpHeaders;
    }
  | { readonly isAnswered: false; readonly detail: string };

/** How a call is made. It is handed in, so that the simulation can answer. */
export type CallJson = (call: JsonCall, signal: AbortSignal) => Promise<JsonAnswer>;

/** Makes one call. Redirects are not followed: a token must not reach another host. Never throws. */
export async function callJson({ method, url, token, body, form }: JsonCall, signal: AbortSignal): Promise<JsonAnswer> {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) return unauthorized;
  const text = body ? JSON.stringify(body) : form ? new URLSearchParams(form).toString() : undefined;
  const type = body ? "application/json" : "application/x-www-form-urlencoded";
  const headers = {
    Accept: "application/json",
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(text !== undefined && { "Content-Type": type, "Content-Length": Buffer.byteLength(text) }),
  };
  try {
    const response = await send(new URL(url), { method, headers, ...(text !== undefined && { body: text }) }, signal);
    const answer = await readBody(response, signal);
    if (answer === undefined) return { isAnswered: false, detail: "the answer broke off or was too large" };
    const document = parseJson(answer);
    const { statusCode: status = 0, headers: received } = response;
    return { isAnswered: true, status, document: isJsonObject(document) ? document : {}, headers: received };
  } catch (error) {
    if (signal.aborted) return { isAnswered: false, detail: "no answer in time" };
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    return { isAnswered: false, detail: `no answer${typeof code === "string" ? ` (${code})` : ""}` };
  }
}

/** A token with characters that no header can hold was never issued. */
const unauthorized: JsonAnswer = { isAnswered: true, status: 401, document: {}, headers: {} };

/** How long the answer asks to wait. */
export function retryAfterIn(headers: IncomingHttpHeaders): number | undefined {
  return readRetryAfter(headers["retry-after"], Date.parse(headers.date ?? ""));
}
