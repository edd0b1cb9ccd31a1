import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../home/json.ts";
import { badArgument, Refusal } from "../refusal.ts";
import type { Secrets } from "../secrets.ts";

/** One HTTP call, taken apart. */
export interface Call {
  readonly method: string;
  /** As it came, still percent-encoded and without the query. */
  readonly rawPath: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const mostBodyBytes = 2 * 1024 * 1024;

export function readCall(request: IncomingMessage, response: ServerResponse): Call {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
  const queryStart = target.indexOf("?");
  const rawPath = queryStart < 0 ? target : target.slice(0, queryStart);
  const query = new URLSearchParams(queryStart < 0 ? "" : target.slice(queryStart + 1));
  return { method: request.method ?? "GET", rawPath, target, query, request, response };
}

/** The decoded parts of the path; slashes at its end or in a row mean nothing. */
export function readSegments({ rawPath }: Call): string[] {
  try {
    return rawPath.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    throw badArgument("The path holds a broken percent-encoding.");
  }
}

/** The path for the log: decoded, so that a secret is recognised in it however it is written. */
export function pathForLog(call: Call): string {
  try {
    return `/${readSegments(call).join("/")}`;
  } catch {
    return "(broken path)";
  }
}

/** Reads the fields of a form; what isn't one has none of the names that a caller looks for. */
export async function readForm({ request }: Call): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(request)).toString("utf8"));
}

/** Reads a JSON body; an empty one takes the given value, when there is one. */
export async function readJson({ request }: Call, whenEmpty?: Json): Promise<Json> {
  const body = await readBody(request);
  if (body.length === 0 && whenEmpty !== undefined) return whenEmpty;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw badArgument("The body is not JSON.");
  }
}

/** Sends JSON. With `secrets`, as in every refusal, what a caller has sent isn't told back to it in clear. */
export function sendJson(
  { response }: Call,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  secrets?: Secrets,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(value);
  const body = Buffer.from(secrets?.blot(text) ?? text);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length, ...headers });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest of a body that is too large is read and thrown away, so that its sender gets to see the answer.
    if (bytes <= mostBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > mostBodyBytes) throw new Refusal(413, "too_large", "The body is larger than 2 MB.");
  return Buffer.concat(chunks);
}
