/** The base class of all errors of the SDK. `code` is stable; the message is for people and never holds a token. */
export class BreezewayError extends Error {
  override name = "BreezewayError";
  readonly code: string;
  /** The key of a batch that was not carried out to its end: repeat the batch with it. */
  declare readonly idempotencyKey?: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * No answer came: no connection, a broken connection, or a time-out. The outcome of a write is unknown: read before you
 * repeat it, or repeat it with the same idempotencyKey. `cause` is the error of `fetch`; undefined after a time-out.
 */
export class Unreachable extends BreezewayError {
  override name = "Unreachable";
  constructor(message: string, options?: ErrorOptions) {
    super("unreachable", message, options);
  }
}

/** An answer that the interface does not define: a proxy's page, an incomplete document. */
export class UnexpectedAnswer extends BreezewayError {
  override name = "UnexpectedAnswer";
  /** Undefined for a malformed event of a stream. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super("unexpected_answer", message);
    this.status = status;
  }
}

/** An argument of the SDK is invalid: nothing was sent. */
export class InvalidArgument extends BreezewayError {
  override name = "InvalidArgument";
  constructor(message: string) {
    super("invalid_argument", message);
  }
}

/** A message of a webhook is not signed with its secret, or is too old: do not believe it. */
export class InvalidSignature extends BreezewayError {
  override name = "InvalidSignature";
  constructor(message: string) {
    super("invalid_signature", message);
  }
}

/** Nothing in the linked account has this friendly name. */
export class UnknownName extends BreezewayError {
  override name = "UnknownName";
  constructor(message: string) {
    super("unknown_name", message);
  }
}

/** Several things in the linked account have this friendly name. */
export class AmbiguousName extends BreezewayError {
  override name = "AmbiguousName";
  constructor(message: string) {
    super("ambiguous_name", message);
  }
}

/** The user or the authorization server refused, or the browser came back with another state. */
export class AuthorizationRefused extends BreezewayError {
  override name = "AuthorizationRefused";
}

/** The details of a refusal by the service. */
export interface Refused {
  readonly code: string;
  /** The HTTP status; 500 for every fault of a platform call. Undefined if the SDK refused before sending. */
  readonly status: number | undefined;
  /** The error number of the adaptor and the platform calls. */
  readonly errorCode: number | undefined;
  /** Identifies the call in the service's log. */
  readonly requestId: string | undefined;
  /** How long to wait before the next call. */
  readonly retryAfterSeconds: number | undefined;
}

/** The service refused a call. Subclasses say why; this class is for refusals without a subclass. */
export class ServiceError extends BreezewayError implements Refused {
  override name = "ServiceError";
  readonly status: number | undefined;
  readonly errorCode: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, refused: Partial<Refused> & { readonly code: string }, options?: ErrorOptions) {
    super(refused.code, message, options);
    this.status = refused.status;
    this.errorCode = refused.errorCode;
    this.requestId = refused.requestId;
    this.retryAfterSeconds = refused.retryAfterSeconds;
  }
}

/** The user's name or password is wrong (101). */
export class InvalidLogin extends ServiceError {
  override name = "InvalidLogin";
}
/** A parameter is missing or malformed, or a value is not allowed (102, 112). */
export class InvalidRequest extends ServiceError {
  override name = "InvalidRequest";
}
/** There is no token, or it is no longer valid (106, HTTP 401): sign in again. */
export class NotSignedIn extends ServiceError {
  override name = "NotSignedIn";
}
/** The token does not allow this call (HTTP 403). */
export class Forbidden extends ServiceError {
  override name = "Forbidden";
}
/** Too many requests or failed attempts (107, HTTP 429): `retryAfterSeconds` says how long to wait. */
export class TooManyRequests extends ServiceError {
  override name = "TooManyRequests";
}
/** The client or its tenant has used up a quota of the service (HTTP 429, `quota_exceeded`). Nothing was changed. */
export class QuotaExceeded extends TooManyRequests {
  override name = "QuotaExceeded";
}
/** The token has no access to such a device, thing, command, attribute, alert or webhook (109, 110, 113, HTTP 404). */
export class NotFound extends ServiceError {
  override name = "NotFound";
}
/** Only the ecosystem sets this attribute (111). */
export class ReadOnlyAttribute extends ServiceError {
  override name = "ReadOnlyAttribute";
}
/** A limit on the number of objects is reached (HTTP 409). */
export class Conflict extends ServiceError {
  override name = "Conflict";
}
/** The user is linked to this ecosystem already (118); `updateFederatedToken` handles it. */
export class AlreadyFederated extends ServiceError {
  override name = "AlreadyFederated";
}
/** The user isn't linked to this ecosystem (119). */
export class NotFederated extends ServiceError {
  override name = "NotFederated";
}
/** The service has no ecosystem of this name (120). */
export class UnknownEcosystem extends ServiceError {
  override name = "UnknownEcosystem";
}
/** The ecosystem refused its access token (121). */
export class EcosystemRefused extends ServiceError {
  override name = "EcosystemRefused";
}
/** The ecosystem could not be reached (122). */
export class EcosystemUnreachable extends ServiceError {
  override name = "EcosystemUnreachable";
}
/** The code or refresh token is no longer valid, or belongs to another client (RFC 6749 `invalid_grant`). */
export class InvalidGrant extends ServiceError {
  override name = "InvalidGrant";
}
/** The client's id or secret is wrong (RFC 6749 `invalid_client`). */
export class InvalidClient extends ServiceError {
  override name = "InvalidClient";
}
/** The service can't answer now (199, HTTP 5xx). With the code `store_unavailable` nothing was changed. */
export class Unavailable extends ServiceError {
  override name = "Unavailable";
}
/** The service does not know whether it stored the change (124, `outcome_unknown`): read before you repeat the call. */
export class OutcomeUnknown extends Unavailable {
  override name = "OutcomeUnknown";
}
