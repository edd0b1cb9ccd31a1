import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import { type AddressRules, lookupAmong, reachableAddresses } from "../../runtime/network/public-address.ts";
import { send } from "../../runtime/network/request.ts";
import { readSmallJson } from "../kit/body.ts";

export interface FormAnswer {
  readonly status: number | undefined;
  /** Undefined when the answer holds no JSON. */
  readonly body: unknown;
}

export interface FormPost {
  readonly url: URL;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
}

/** How a form is posted. It is handed in, so that the simulation can answer. */
export type PostForm = (post: FormPost, signal: AbortSignal) => Promise<FormAnswer | undefined>;

/**
 * Posts a form to an instance. The address comes from a stranger: the name is resolved and checked for each request, and
 * redirects are not followed. Undefined when there is no answer; the cause is left out, because it may quote the address.
 */
export async function postForm(
  { url, path, form }: FormPost,
  rules: AddressRules,
  signal: AbortSignal,
): Promise<FormAnswer | undefined> {
  if (url.protocol !== "https:" && !rules.allowsPrivate) return undefined;
  try {
    const lookup = lookupAmong(await reachableAddresses(url.hostname, rules, signal));
    const body = new URLSearchParams(form).toString();
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": Buffer.byteLength(body) };
    const target = new URL(`${url.pathname.replace(/\/$/, "")}${path}`, url);
    const response = await send(target, { method: "POST", headers, body, lookup }, signal);
    return { status: response.statusCode, body: await readSmallJson(response, signal) };
  } catch {
    return undefined;
  }
}

/** The error code in a refusal of the token endpoints. */
export function errorIn({ body }: FormAnswer): unknown {
  return isJsonObject(body) ? body.error : undefined;
}
