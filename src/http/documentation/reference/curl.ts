import { jsonBody, ndjsonBody } from "../../request/body-types.ts";
import type { SampleRequest, SampleValue } from "./sample-request.ts";

/** The request as a shell command: one option per line, secrets from variables. */
export function curl(request: SampleRequest, baseUrl: string): string {
  const { method, path, query, form, json, lines, authorization } = request;
  const isFormPosted = method === "POST" && form.length > 0;
  const first = [
    "curl",
    ...(query.length > 0 ? ["-G"] : []),
    ...(method === "GET" || isFormPosted ? [] : ["-X", method]),
  ];
  const options = [
    ...(authorization ? [authorize(authorization)] : []),
    ...[...query, ...form].map(data),
    ...(json === undefined ? [] : body(jsonBody, JSON.stringify(json))),
    ...(lines === undefined ? [] : body(ndjsonBody, lines)),
  ];
  return [`${first.join(" ")} ${quoted(baseUrl + path)}`, ...options].join(" \\\n  ");
}

/** The request as an address for a browser. */
export function browserAddress({ path, query }: SampleRequest, baseUrl: string): string {
  const pairs = query.map((sent) => `${sent.name}=${"variable" in sent ? `$${sent.variable}` : sent.value}`);
  return `${baseUrl}${path}${pairs.length > 0 ? "?" : ""}${pairs.join("&")}`;
}

function authorize({ scheme, variables }: NonNullable<SampleRequest["authorization"]>): string {
  const secret = variables.map((variable) => `$${variable}`).join(":");
  return scheme === "Basic" ? `-u "${secret}"` : `-H "Authorization: Bearer ${secret}"`;
}

function body(type: string, text: string): readonly string[] {
  return [`-H 'Content-Type: ${type}'`, `-d ${quoted(text)}`];
}

function data(sent: SampleValue): string {
  if ("variable" in sent) return `--data-urlencode "${sent.name}=$${sent.variable}"`;
  const pair = `${sent.name}=${sent.value}`;
  return /^[\w.~-]+$/.test(sent.value) ? `-d ${pair}` : `--data-urlencode ${quoted(pair)}`;
}

function quoted(text: string): string {
  return /^[\w.~:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
