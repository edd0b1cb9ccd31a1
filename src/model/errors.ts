import type { LimitName } from "./limits.ts";
import { type SuspendedParty, suspendedSentences } from "./suspension.ts";

/**
 * Every failure that a caller could react to. The code is stable; the message names the actor, the action and the
 * value, and never holds a secret. `http/answer/error-response.ts` turns them into answers,
 * `outlets/platform/faults.ts` into XML faults.
 */
export abstract class BreezewayError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class InvalidLogin extends BreezewayError {
  readonly code = "invalid_login";
  /** Name and password are right, and the user is suspended. */
  readonly isSuspended: boolean;
  constructor({ isSuspended = false } = {}) {
    super(isSuspended ? suspendedSentences.user : "Invalid login name or password.");
    this.isSuspended = isSuspended;
  }
}

export class BadParameter extends BreezewayError {
  readonly code = "bad_parameter";
  readonly parameter: string;
  constructor(parameter: string, sentence: string) {
    super(sentence);
    this.parameter = parameter;
  }
}

export class UnknownOperation extends BreezewayError {
  readonly code = "unknown_operation";
}

export class InvalidSecToken extends BreezewayError {
  readonly code = "invalid_sec_token";
  constructor(sentence = "Invalid security token.") {
    super(sentence);
  }
}

export class TooManyRequests extends BreezewayError {
  readonly code: string = "too_many_requests";
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number, what = "Too many failed attempts.") {
    super(`${what} Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? "second" : "seconds"}.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The client, or its tenant, has used up a quota (docs/limits.md). Nothing was changed. */
export class QuotaExceeded extends TooManyRequests {
  override readonly code = "quota_exceeded";
}

/** The client closed its connection before its request was served: the answer is dropped. */
export class ClientGone extends BreezewayError {
  readonly code = "client_gone";
  constructor() {
    super("The client closed its connection.");
  }
}

export class UnknownDevice extends BreezewayError {
  readonly code = "unknown_device";
  constructor(sentence = "Device does not exist.") {
    super(sentence);
  }
}

/** The call needs an operator: a session of the console, or an operator's token. */
export class NotSignedIn extends BreezewayError {
  readonly code = "not_signed_in";
  constructor() {
    super("This call needs an operator: sign in to the console, or send an operator's token.");
  }
}

/** The operator's role does not allow the act. */
export class OperatorForbidden extends BreezewayError {
  readonly code = "operator_forbidden";
  constructor(sentence = "Your role does not allow this.") {
    super(sentence);
  }
}

/** The act needs the operator's password again: it shows a secret, removes something, or concerns keys or operators. */
export class PasswordNeeded extends BreezewayError {
  readonly code = "password_needed";
  constructor() {
    super("This needs your password again. Type it at /console/password, then repeat the call within 5 minutes.");
  }
}

/** A page of another site has sent the request with the cookie of an operator's session. */
export class ForeignOrigin extends BreezewayError {
  readonly code = "foreign_origin";
  constructor() {
    super("The request comes from a page of another site. Open the console itself, and try again there.");
  }
}

/** The call is for enterprise clients only: they act for a tenant, not for one of its users. */
export class EnterpriseOnly extends BreezewayError {
  readonly code = "enterprise_only";
  constructor() {
    super("This call needs an access token of an enterprise client. A user's token can't make it.");
  }
}

export class UnknownThing extends BreezewayError {
  readonly code = "unknown_thing";
  constructor(sentence = "Thing does not exist.") {
    super(sentence);
  }
}

/** Of a tenant: device types without a trait map are not listed. */
export class UnknownDeviceType extends BreezewayError {
  readonly code = "unknown_device_type";
  constructor() {
    super("There is no device type of this name with a trait map. Names are case-sensitive.");
  }
}

export class UnknownCommand extends BreezewayError {
  readonly code = "unknown_command";
  constructor(sentence = "Command does not exist.") {
    super(sentence);
  }
}

export class AlreadyFederated extends BreezewayError {
  readonly code = "already_federated";
  constructor(ecosystem: string) {
    super(`This user is already connected to ${ecosystem}. Use PUT to replace the token.`);
  }
}

export class NotFederated extends BreezewayError {
  readonly code = "not_federated";
  constructor(ecosystem: string) {
    super(`This user is not connected to ${ecosystem}. Use POST to connect.`);
  }
}

/** The new credential belongs to another account than the link. Nothing was changed. */
export class AnotherAccount extends BreezewayError {
  readonly code = "another_account";
  constructor(ecosystem: string) {
    super(`The credential belongs to another account of ${ecosystem} than the one that is connected.`);
  }
}

export class UnknownEcosystem extends BreezewayError {
  readonly code = "unknown_ecosystem";
}

/** The ecosystem rejected the token. */
export class EcosystemRefused extends BreezewayError {
  readonly code = "ecosystem_refused";
}

export class EcosystemUnreachable extends BreezewayError {
  readonly code = "ecosystem_unreachable";
}

/** A virtual device has no attribute of that name. */
export class UnknownAttribute extends BreezewayError {
  readonly code = "unknown_attribute";
}

export class ReadOnlyAttribute extends BreezewayError {
  readonly code = "read_only_attribute";
}

/** A value that is longer than an attribute may be. */
export class ValueTooLarge extends BreezewayError {
  readonly code = "value_too_large";
}

/** A value that its attribute can't hold. */
export class BadValue extends BreezewayError {
  readonly code = "bad_value";
}

export class UnknownTrigger extends BreezewayError {
  readonly code = "unknown_trigger";
  constructor() {
    super("Trigger does not exist.");
  }
}

/** The caller would grow something beyond its limit (docs/limits.md). Nothing was changed. */
export class LimitReached extends BreezewayError {
  readonly code: string = "limit_reached";
  readonly limit: LimitName;
  constructor(limit: LimitName, sentence: string) {
    super(sentence);
    this.limit = limit;
  }
}

/** The device or the user has as many alerts as the limit allows. The interface defines its own code for this limit. */
export class TooManyTriggers extends LimitReached {
  override readonly code = "too_many_triggers";
}

/** The owner has reached the limit of idempotency keys, which are kept for 24 hours with their answers. */
export class TooManyIdempotencyKeys extends LimitReached {
  override readonly code = "too_many_idempotency_keys";
}

/** The first request with this Idempotency-Key is not answered yet. */
export class IdempotencyKeyInUse extends BreezewayError {
  readonly code = "idempotency_key_in_use";
  readonly retryAfterSeconds = 1;
  constructor() {
    super("A request with this Idempotency-Key is under way. Repeat it when that one was answered.");
  }
}

/** The Idempotency-Key was used for a request with another method, path or body. */
export class IdempotencyKeyReused extends BreezewayError {
  readonly code = "idempotency_key_reused";
  constructor() {
    super(
      "This Idempotency-Key was used for another request in the last 24 hours. Nothing was changed. Use a new key for each request.",
    );
  }
}

/**
 * The access token is unknown, expired or revoked: the answer does not say which of these. Or its user or client is
 * suspended, which it says.
 */
export class InvalidToken extends BreezewayError {
  readonly code = "invalid_token";
  readonly suspended: SuspendedParty | undefined;
  constructor(suspended?: SuspendedParty) {
    super(suspended ? suspendedSentences[suspended] : "The access token is not valid.");
    this.suspended = suspended;
  }
}

/** No access token was sent at all. */
export class MissingToken extends BreezewayError {
  readonly code = "missing_token";
  constructor() {
    super("This path needs an access token in the Authorization header: Bearer <token>.");
  }
}

/**
 * An access token in the address or in a form. Addresses and forms end up in logs and browser histories (RFC 6750 2.3).
 */
export class MisplacedToken extends BreezewayError {
  readonly code = "misplaced_token";
  constructor() {
    super("The access token must be sent in the Authorization header and nowhere else.");
  }
}

/** Refusals of the authorization server, with the names that RFC 6749 gives them. */
export class InvalidClient extends BreezewayError {
  readonly code = "invalid_client";
  constructor(sentence = "The client is unknown or its secret is wrong.") {
    super(sentence);
  }
}

export class InvalidGrant extends BreezewayError {
  readonly code = "invalid_grant";
}

export class UnauthorizedClient extends BreezewayError {
  readonly code = "unauthorized_client";
}

export class UnsupportedGrantType extends BreezewayError {
  readonly code = "unsupported_grant_type";
}

/** An object with that name or id exists already. */
export class Conflict extends BreezewayError {
  readonly code = "conflict";
}

export class NotFound extends BreezewayError {
  readonly code = "not_found";
}

/** The store can't be reached or can't write now. Nothing was changed. */
export class StoreUnavailable extends BreezewayError {
  readonly code: string = "store_unavailable";
}

/** A costly pattern can't be evaluated now: its thread could not be started. For a client it is like StoreUnavailable. */
export class PatternsUnavailable extends StoreUnavailable {}

/** The store got the COMMIT and its answer was lost: the change may be stored or not. */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly code = "outcome_unknown";
  /** The request can be repeated safely: it had an Idempotency-Key. */
  readonly isKeyed: boolean;

  constructor(message: string, { isKeyed = false, ...options }: ErrorOptions & { readonly isKeyed?: boolean } = {}) {
    super(message, options);
    this.isKeyed = isKeyed;
  }

  ofKeyedRequest(): OutcomeUnknown {
    return new OutcomeUnknown(this.message, { cause: this, isKeyed: true });
  }
}

/** The message that a caller gets when a read or write failed because of the store. The cause goes to the log only. */
export function storeFailureSentence(error: StoreUnavailable): string {
  if (error instanceof PatternsUnavailable) {
    return "Breezeway can't evaluate this pattern now. Nothing was changed. Try again in a few seconds.";
  }
  if (!(error instanceof OutcomeUnknown)) {
    return "Breezeway can't use its store now. Nothing was changed. Try again in a few seconds.";
  }
  const nextStep = error.isKeyed
    ? "Repeat it with the same Idempotency-Key: it is carried out once."
    : "Read before you repeat it.";
  return `Breezeway can't tell whether the change was stored. ${nextStep}`;
}

/**
 * The failure of a change that takes several transactions, after one of them was stored: its caller must not read that
 * nothing was changed.
 */
export function afterPart(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable) || error instanceof OutcomeUnknown) return error;
  return new OutcomeUnknown("The store failed after a part of the change was stored.", { cause: error });
}

/** Carries out the rest of a change. `isBegun`: an earlier transaction of the same change was stored. */
export async function restOfChange<Result>(isBegun: boolean, rest: () => Promise<Result>): Promise<Result> {
  try {
    return await rest();
  } catch (error) {
    throw isBegun ? afterPart(error) : error;
  }
}

/** A command needs a running service, and none runs. */
export class NotRunning extends BreezewayError {
  readonly code = "not_running";
}

/** A node wrote to a link that it no longer owns. Nothing was changed, and the node stops its lane. */
export class OwnershipLost extends BreezewayError {
  readonly code = "ownership_lost";
}
