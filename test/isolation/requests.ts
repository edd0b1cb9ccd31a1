import { csrfOf } from "../../src/outlets/account/visit.ts";
import type { Call, KeyKind } from "./calls.ts";
import type { Address } from "./every-address.ts";
import type { WireRequest } from "./wire.ts";

/** The credentials of each kind. */
export interface Keys {
  readonly bearer: string;
  readonly secToken: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly password: { readonly password: string; readonly appId: string };
  /** The value of the browser's cookie. */
  readonly browser: string;
  /** The secret of a session at the account page. */
  readonly account: string;
}

export type Place = "header" | "query" | "form" | "json" | "basic";

/** The kind of key that an address needs: from its rule or, where the rule is `public`, from the call. */
export function keyKindOf({ rule }: Address, { key }: Call): KeyKind | undefined {
  return rule === "public" ? key : rule;
}

/** Every place where that key may be sent. */
export function placesOf({ rule, method, path, errors }: Address): readonly Place[] {
  const hasBody = method !== "GET" && method !== "HEAD";
  if (rule === "bearer") return ["header"];
  if (rule === "client") return ["form", "json", "basic"];
  if (path.startsWith("/acc/")) return ["json"];
  // In the header, other tokens would be tried as access tokens.
  if (path === "/adaptor/largestrings") return hasBody ? ["query", "form", "json"] : ["query"];
  if (rule === "secToken" && errors === "adaptor") {
    return hasBody ? ["query", "form", "json", "header"] : ["query", "header"];
  }
  if (errors === "fault") return hasBody ? ["query", "form"] : ["query"];
  return hasBody ? ["form"] : ["query"];
}

/** The call with that key, or without one, in that place. */
export function requestOf(
  { rule, method, path, errors }: Address,
  { key: publicKey, parameters = {}, path: ids = {}, json, lines, cookie }: Call,
  keys: Partial<Keys>,
  place: Place,
): WireRequest {
  const kind = rule === "public" ? publicKey : rule;
  const fields: Record<string, string> = { ...parameters };
  const headers: [string, string][] = [];
  if (kind === "bearer" && keys.bearer !== undefined) headers.push(["Authorization", `Bearer ${keys.bearer}`]);
  if (kind === "secToken" && keys.secToken !== undefined) {
    if (place === "header") headers.push(["Authorization", `Bearer ${keys.secToken}`]);
    else fields.secToken = keys.secToken;
  }
  if (kind === "client" && keys.client) {
    const { id, secret } = keys.client;
    if (place === "basic") headers.push(["Authorization", `Basic ${btoa(`${id}:${secret}`)}`]);
    else Object.assign(fields, { client_id: id, client_secret: secret });
  }
  if (kind === "password" && keys.password) {
    const { password, appId } = keys.password;
    // A page, and a path below /acc, name the tenant already.
    Object.assign(fields, errors === "fault" ? { password, appId } : { password });
  }
  if (kind === "browser" && keys.browser !== undefined) headers.push(["Cookie", `breezeway=${keys.browser}`]);
  if (kind === "account" && keys.account !== undefined) {
    headers.push(["Cookie", `breezeway-account-${ids.tenantId}=${keys.account}`]);
    // The token of its own forms, which every session knows.
    if (method === "POST") fields.csrf = csrfOf(keys.account);
  }
  if (cookie !== undefined) headers.push(["Cookie", cookie]);

  const target = path.replace(/(?<=\/):(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? ""));
  if (lines !== undefined) {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const type = ["Content-Type", "application/x-ndjson"] as const;
    return { method, target: target + queryOf(fields), headers: [...headers, type], body };
  }
  if (json !== undefined) return withJson({ method, target: target + queryOf(fields), headers }, json);
  if (place === "json") return withJson({ method, target, headers }, fields);
  const isInAddress = place === "query" || place === "header";
  if (isInAddress) return { method, target: target + queryOf(fields), headers };
  const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;
  return { method, target, headers: [...headers, form], body: String(new URLSearchParams(fields)) };
}

function withJson(request: WireRequest, json: unknown): WireRequest {
  const headers = [...(request.headers ?? []), ["Content-Type", "application/json"] as const];
  return { ...request, headers, body: JSON.stringify(json) };
}

function queryOf(fields: Readonly<Record<string, string>>): string {
  const query = String(new URLSearchParams(fields));
  return query === "" ? "" : `?${query}`;
}
