import type { IncomingHttpHeaders } from "node:http";
import { limits } from "../../model/limits.ts";
import type { ReadLargeJson } from "../../runtime/json/json-thread.ts";
import type { Projection } from "../../runtime/json/projection.ts";
import { handshakeBounds, isJsonObject, type JsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import { send } from "../../runtime/network/request.ts";
import { readBody, readSmallJson } from "./body.ts";
import { readRetryAfter } from "./retry-after.ts";
import { UnfinishedMessages } from "./unfinished-messages.ts";

export interface JsonCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** What is read of a list, whose answer may have 2 MB. Left out: an answer has at most 64 KB. */
  readonly list?: Projection;
}

/** An answer of any status, or why there is none. Neither holds a token. */
export type JsonAnswer =
  | {
      readonly isAnswered: true;
      readonly status: number;
      /** Empty when the body is no JSON object that can be read. A list with status 200 is then no answer. */
      readonly document: JsonObject;
      readonly headers: IncomingHttpHeaders;
    }
  | { readonly isAnswered: false; readonly detail: string };

/** How a call is made. It is handed in, so that the simulation can answer. */
export type CallJson = (call: JsonCall, signal: AbortSignal) => Promise<JsonAnswer>;

/** Makes calls over HTTP. Redirects are not followed: a token must not reach another host. Never throws. */
export function jsonCaller(readJson: ReadLargeJson, unfinished = new UnfinishedMessages()): CallJson {
  return (call, signal) => callJson(call, { readJson, unfinished }, signal);
}

interface Readers {
  readonly readJson: ReadLargeJson;
  readonly unfinished: UnfinishedMessages;
}

async function callJson(call: JsonCall, { readJson, unfinished }: Readers, signal: AbortSignal): Promise<JsonAnswer> {
  const { method, url, token, body, form, list } = call;
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
    const { statusCode: status = 0, headers: received } = response;
    // The status of another answer counts, whatever its body is.
    if (status !== 200) {
      const refusal = await readSmallJson(response, signal);
      return { isAnswered: true, status, document: isJsonObject(refusal) ? refusal : {}, headers: received };
    }
    const limitBytes = list ? limits.streamMessageBytes : handshakeBounds.bytes;
    const answer = await readBody(response, limitBytes, signal, unfinished);
    if (answer === undefined) return { isAnswered: false, detail: "the answer broke off or was too large" };
    const document = list
      ? await readJson(token ?? url, answer, list, signal)
      : parseUntrusted(String(answer), handshakeBounds);
    if (isJsonObject(document)) return { isAnswered: true, status, document, headers: received };
    if (list) return { isAnswered: false, detail: "the answer is not JSON that can be read" };
    return { isAnswered: true, status, document: {}, headers: received };
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
