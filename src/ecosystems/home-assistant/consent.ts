import type { AddressRules } from "../../runtime/network/public-address.ts";
import type { Consent, ConsentAnswer, ConsentOutcome, ConsentRequest, ConsentStart } from "../consent.ts";
import { withDeadline } from "../kit/deadline.ts";
import { canonicalAddress } from "./address.ts";
import { adviceOn, isLocalHost, localAddressAdvice } from "./address-advice.ts";
import { errorIn } from "./form-post.ts";
import { probeInstance } from "./instance-probe.ts";
import { issuedIn, type TokenParts } from "./renewal.ts";

export interface ConsentParts extends TokenParts {
  readonly rules: AddressRules;
}

/** Time limit of each call to the instance. */
const answerLimitMs = 10_000;

/**
 * Consent on the instance's own pages (IndieAuth): a client is known by its address, and needs no registration. The
 * instance does not know PKCE, and shows no page that declines.
 */
export function instanceConsent(parts: ConsentParts): Consent {
  return {
    asksForAddress: true,
    begin: (request, signal) => withDeadline(signal, answerLimitMs, (inTime) => begin(parts, request, inTime)),
    exchange: (answer, signal) => withDeadline(signal, answerLimitMs, (inTime) => exchange(parts, answer, inTime)),
  };
}

async function begin(
  { rules }: ConsentParts,
  { redirectUri, state, address: typedAddress }: ConsentRequest,
  signal: AbortSignal,
): Promise<ConsentStart> {
  const text = withScheme(typedAddress ?? "");
  // Before the scheme is judged: https would not make this address reachable.
  const typedUrl = /^https?:/i.test(text) ? URL.parse(text) : null;
  if (typedUrl && isLocalHost(typedUrl.hostname) && !rules.allowsPrivate) {
    return { problem: "forbidden", detail: localAddressAdvice };
  }
  const checked = canonicalAddress(text, rules.allowsPrivate);
  if ("problem" in checked) return { problem: checked.problem, detail: `The address ${checked.sentence}` };
  const { address } = checked;
  const url = new URL(address);
  const obstacle = await probeInstance(url, rules, signal);
  if (obstacle !== undefined) return { problem: "unreachable", detail: adviceOn(obstacle, url.hostname) };
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientIdOf(redirectUri),
    redirect_uri: redirectUri,
    state,
  });
  return { url: `${address}/auth/authorize?${query}`, address };
}

async function exchange(
  { rules, post, nowMs }: ConsentParts,
  { code, redirectUri, address: storedAddress }: ConsentAnswer,
  signal: AbortSignal,
): Promise<ConsentOutcome> {
  const checked = canonicalAddress(storedAddress ?? "", rules.allowsPrivate);
  if ("problem" in checked) return { state: "unanswered", detail: `the address ${checked.sentence}` };
  const clientId = clientIdOf(redirectUri);
  const form = { grant_type: "authorization_code", code, client_id: clientId };
  const answer = await post({ url: new URL(checked.address), path: "/auth/token", form }, signal);
  if (!answer) return { state: "unanswered", detail: "no answer" };
  const issued = issuedIn(answer, nowMs());
  if (issued) return { state: "granted", credential: { ...issued, address: checked.address, clientId } };
  if (errorIn(answer) !== undefined) return { state: "refused", reason: "the instance does not accept the code" };
  return { state: "unanswered", detail: `the instance answered ${answer.status}` };
}

/** A person may leave out the scheme. */
function withScheme(typedAddress: string): string {
  const text = typedAddress.trim();
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}

/** The origin of the callback: an instance accepts a callback of the same host as the client's address. */
function clientIdOf(redirectUri: string): string {
  return `${new URL(redirectUri).origin}/`;
}
