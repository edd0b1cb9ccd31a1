import { ClientGone, TooManyRequests } from "../../model/errors.ts";
import { hasScope } from "../../model/scopes.ts";
import { causeOfUser, type OutgoingCalls } from "../../runtime/network/outgoing-calls.ts";
import { type Runtime, within } from "../../runtime/runtime.ts";
import type { AssistantGrants } from "../grants.ts";
import type { AlexaCaller } from "./caller.ts";
import type { Directive } from "./directive.ts";
import { grantError } from "./errors.ts";
import { type AlexaCredential, hasTokens, type LoginTokens, type NoTokens } from "./login-tokens.ts";
import { type AlexaEvent, acceptGrantResponse, errorResponse, type ReplyHeader } from "./messages.ts";
import { awsRegions, gatewayRegionOf } from "./regions.ts";

export interface GrantingParts {
  readonly tokens: LoginTokens;
  readonly grants: Pick<AssistantGrants, "establish">;
  readonly outgoing: OutgoingCalls;
  readonly runtime: Runtime;
}

/** How long the exchange may take. Alexa waits for 8 seconds. */
const exchangeMs = 6_000;

/**
 * Exchanges the code of a grant, and stores the tokens for messages about this user. If that fails, Alexa ends the
 * linking: a skill that can't report changes would show outdated states.
 */
export async function acceptGrant(
  { tokens, grants, outgoing, runtime }: GrantingParts,
  caller: AlexaCaller,
  { payload }: Directive,
  awsRegion: string | undefined,
  header: ReplyHeader,
): Promise<AlexaEvent> {
  const failed = (text: string) => errorResponse(header, grantError(text));
  if (!hasScope(caller.user, "devices:read")) return failed("The user did not grant the scope devices:read.");
  const code = (payload.grant as { readonly code?: unknown } | null | undefined)?.code;
  if (typeof code !== "string" || code === "") return failed("The payload has no grant with a code.");
  const region = gatewayRegionOf(awsRegion);
  if (!region) return failed(`The parameter region must be one of: ${awsRegions.join(", ")}.`);
  // The exchange goes on when the Lambda function disconnects: the code can't be used again.
  const cause = causeOfUser(caller.user.userId, caller.outlet.tenantId);
  const credential = await within(runtime, exchangeMs, new AbortController().signal, (inTime) =>
    outgoing
      .run({ ...cause, disconnected: inTime }, (signal) => tokens.exchange(code, caller.settings, signal))
      .catch(withoutTurn),
  );
  if (!hasTokens(credential)) return failed(`The code could not be exchanged. ${credential.text}.`);
  await grants.establish(caller.outlet, caller.user.userId, { messagingAccess: { credential, region } });
  return acceptGrantResponse(header);
}

/** The exchange had no turn in time: Alexa lets the user link again. */
function withoutTurn(error: unknown): AlexaCredential | NoTokens {
  if (!(error instanceof TooManyRequests || error instanceof ClientGone)) throw error;
  return { reason: "failed", text: "Other calls that this user has caused have no answer yet" };
}
