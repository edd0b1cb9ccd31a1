import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../home/json.ts";
import { badArgument, Refusal } from "../refusal.ts";
import type { Secrets } from "../secrets.ts";

/** A parsed HTTP request and its response. */
export interface Call {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly rawPath: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const maxBodyBytes = 2 * 1024 * 1024;

export function readCall(request: IncomingMessage, response: ServerResponse): Call {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
  const queryStart = target.indexOf("?");
  const rawPath = queryStart < 0 ? target : target.slice(0, queryStart);
  const query = new URLSearchParams(queryStart < 0 ? "" : target.slice(queryStart + 1));
  return { method: request.method ?? "GET", rawPath, target, query, request, response };
}

/** The decoded segments of the path. Empty segments are ignored. */
export function readSegments({ rawPath }: Call): string[] {
  try {
    return rawPath.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    throw badArgument("The path holds a broken percent-encoding.");
  }
}

/** The decoded path: the log redacts a secret in it only if it is not percent-encoded. */
export function pathForLog(call: Call): string {
  try {
    return `/${readSegments(call).join("/")}`;
  } catch {
    return "(broken path)";
  }
}

/** Parses the body as a form. A body of another type has no field that a caller reads. */
export async function readForm({ request }: Call): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(request)).toString("utf8"));
}

/** Parses a JSON body; an empty body gives `defaultBody`, if there is one. */
export async function readJson({ request }: Call, defaultBody?: Json): Promise<Json> {
  const body = await readBody(request);
  if (body.length === 0 && defaultBody !== undefined) return defaultBody;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw badArgument("The body is not JSON.");
  }
}

/** Sends JSON. Refusals pass `secrets`, because their text may repeat a secret that the caller has sent. */
export function sendJson(
  { response }: Call,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  secrets?: Secrets,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(value);
  const body = Buffer.from(secrets?.redact(text) ?? text);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length, ...headers });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest of a body that is too large is read and dropped, so that the client receives the answer.
    if (bytes <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > maxBodyBytes) throw new Refusal(413, "too_large", "The body is larger than 2 MB.");
  return Buffer.concat(chunks);
}
