import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as errors from "../../src/model/errors.ts";
import { InsufficientScope, InvalidScope } from "../../src/model/scope-errors.ts";

describe("an error that a caller can react to", () => {
  const cases: readonly (readonly [errors.BreezewayError, code: string, message: string])[] = [
    [new errors.InvalidLogin(), "invalid_login", "Invalid login name or password."],
    [new errors.BadParameter("name", "Bad."), "bad_parameter", "Bad."],
    [new errors.UnknownOperation("Bad."), "unknown_operation", "Bad."],
    [new errors.InvalidSecToken(), "invalid_sec_token", "Invalid security token."],
    [new errors.TooManyRequests(1), "too_many_requests", "Too many failed attempts. Try again in 1 second."],
    [new errors.QuotaExceeded(2, "Too many."), "quota_exceeded", "Too many. Try again in 2 seconds."],
    [new errors.ClientGone(), "client_gone", "The client closed its connection."],
    [new errors.UnknownDevice(), "unknown_device", "Device does not exist."],
    [new errors.UnknownThing(), "unknown_thing", "Thing does not exist."],
    [
      new errors.UnknownDeviceType(),
      "unknown_device_type",
      "There is no device type of this name with a trait map. Names are case-sensitive.",
    ],
    [new errors.UnknownCommand(), "unknown_command", "Command does not exist."],
    [
      new errors.AlreadyFederated("nest"),
      "already_federated",
      "This user is already connected to nest. Use PUT to replace the token.",
    ],
    [new errors.NotFederated("nest"), "not_federated", "This user is not connected to nest. Use POST to connect."],
    [new errors.UnknownEcosystem("Bad."), "unknown_ecosystem", "Bad."],
    [
      new errors.AnotherAccount("nest"),
      "another_account",
      "The credential belongs to another account of nest than the one that is connected.",
    ],
    [new errors.EcosystemRefused("Bad."), "ecosystem_refused", "Bad."],
    [new errors.EcosystemUnreachable("Bad."), "ecosystem_unreachable", "Bad."],
    [new errors.UnknownAttribute("Bad."), "unknown_attribute", "Bad."],
    [new errors.ReadOnlyAttribute("Bad."), "read_only_attribute", "Bad."],
    [new errors.ValueTooLarge("Bad."), "value_too_large", "Bad."],
    [new errors.BadValue("Bad."), "bad_value", "Bad."],
    [new errors.UnknownTrigger(), "unknown_trigger", "Trigger does not exist."],
    [new errors.LimitReached("alertHopsPerCause", "Bad."), "limit_reached", "Bad."],
    [new errors.TooManyTriggers("alertHopsPerCause", "Bad."), "too_many_triggers", "Bad."],
    [new errors.TooManyIdempotencyKeys("alertHopsPerCause", "Bad."), "too_many_idempotency_keys", "Bad."],
    [
      new errors.IdempotencyKeyInUse(),
      "idempotency_key_in_use",
      "A request with this Idempotency-Key is under way. Repeat it when that one was answered.",
    ],
    [
      new errors.IdempotencyKeyReused(),
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request in the last 24 hours. Nothing was changed. Use a new key for each request.",
    ],
    [new errors.InvalidToken(), "invalid_token", "The access token is not valid."],
    [
      new errors.MissingToken(),
      "missing_token",
      "This path needs an access token in the Authorization header: Bearer <token>.",
    ],
    [
      new errors.MisplacedToken(),
      "misplaced_token",
      "The access token must be sent in the Authorization header and nowhere else.",
    ],
    [new errors.InvalidClient(), "invalid_client", "The client is unknown or its secret is wrong."],
    [new errors.InvalidGrant("Bad."), "invalid_grant", "Bad."],
    [new errors.UnauthorizedClient("Bad."), "unauthorized_client", "Bad."],
    [new errors.UnsupportedGrantType("Bad."), "unsupported_grant_type", "Bad."],
    [new errors.Conflict("Bad."), "conflict", "Bad."],
    [new errors.NotFound("Bad."), "not_found", "Bad."],
    [new errors.StoreUnavailable("Bad."), "store_unavailable", "Bad."],
    [new errors.PatternsUnavailable("Bad."), "store_unavailable", "Bad."],
    [new errors.OutcomeUnknown("Bad."), "outcome_unknown", "Bad."],
    [new errors.NotRunning("Bad."), "not_running", "Bad."],
    [new errors.OwnershipLost("Bad."), "ownership_lost", "Bad."],
    [
      new errors.EnterpriseOnly(),
      "enterprise_only",
      "This call needs an access token of an enterprise client. A user's token can't make it.",
    ],
    [
      new errors.NotSignedIn(),
      "not_signed_in",
      "This call needs an operator: sign in to the console, or send an operator's token.",
    ],
    [new errors.OperatorForbidden(), "operator_forbidden", "Your role does not allow this."],
    [
      new errors.PasswordNeeded(),
      "password_needed",
      "This needs your password again. Type it at /console/password, then repeat the call within 5 minutes.",
    ],
    [
      new errors.ForeignOrigin(),
      "foreign_origin",
      "The request comes from a page of another site. Open the console itself, and try again there.",
    ],
    [
      new InsufficientScope(["alerts"], ["alerts"]),
      "insufficient_scope",
      "This call needs the scope alerts, and the access token lacks alerts. Use a token that was granted it.",
    ],
    [
      new InvalidScope(["alerts"], ["links"]),
      "invalid_scope",
      "The user granted alerts, and a refresh can't add links. Ask for it at /oauth2/authorize.",
    ],
  ];

  it("has a code and a sentence that callers read", () => {
    assert.deepEqual(
      cases.map(([error]) => [error.code, error.message]),
      cases.map(([, code, message]) => [code, message]),
    );
    const classes = Object.entries(errors).filter(([, value]) => value.prototype instanceof errors.BreezewayError);
    const named = new Set(cases.map(([error]) => error.name));
    assert.deepEqual(
      classes.map(([name]) => name).filter((name) => !named.has(name)),
      [],
      "errors without a case above",
    );
  });

  it("says who is suspended, and whom to ask", () => {
    const user = "This user is suspended. Ask the operator of this service.";
    const client = "This client is suspended. Ask the operator of this service.";
    const login = new errors.InvalidLogin({ isSuspended: true });
    assert.deepEqual([login.isSuspended, login.message], [true, user]);
    assert.equal(new errors.InvalidLogin().isSuspended, false);
    for (const [party, sentence] of [
      ["user", user],
      ["client", client],
    ] as const) {
      const token = new errors.InvalidToken(party);
      assert.deepEqual([token.suspended, token.message], [party, sentence]);
    }
    assert.equal(new errors.InvalidToken().suspended, undefined);
  });

  it("names the parameter, the limit or the scopes that it is about", () => {
    assert.equal(new errors.BadParameter("name", "Bad.").parameter, "name");
    assert.equal(new errors.LimitReached("alertHopsPerCause", "Bad.").limit, "alertHopsPerCause");
    assert.deepEqual(new InsufficientScope(["alerts", "links"], ["links"]).needed, ["alerts", "links"]);
  });

  it("says when to try again", () => {
    const error = new errors.TooManyRequests(2, "Too many.");
    assert.deepEqual([error.message, error.retryAfterSeconds], ["Too many. Try again in 2 seconds.", 2]);
    assert.equal(new errors.IdempotencyKeyInUse().retryAfterSeconds, 1);
  });
});

describe("a failure of the store", () => {
  it("changed nothing, or may have: then only a keyed request is safe to repeat", () => {
    const sentence = (error: errors.StoreUnavailable) => errors.storeFailureSentence(error);
    const unknown = new errors.OutcomeUnknown("COMMIT was not answered.");
    assert.match(
      sentence(new errors.StoreUnavailable("It is down.")),
      /^Breezeway can't use its store now\. Nothing was/,
    );
    assert.match(
      sentence(new errors.PatternsUnavailable("No thread.")),
      /can't evaluate this pattern now\. Nothing was/,
    );
    assert.match(sentence(unknown), /^Breezeway can't tell whether .* Read before you repeat it\.$/);
    const keyed = unknown.ofKeyedRequest();
    assert.deepEqual([unknown.isKeyed, keyed.isKeyed, keyed.cause], [false, true, unknown]);
    assert.match(sentence(keyed), /^Breezeway can't tell whether .* Repeat it with the same Idempotency-Key/);
  });
});

describe("a change in several transactions", () => {
  const down = new errors.StoreUnavailable("It is down.");
  const failing = (isBegun: boolean, error: Error) =>
    errors.restOfChange(isBegun, () => Promise.reject(error)).catch((failure: unknown) => failure);

  it("has the result of its last part", async () => {
    for (const isBegun of [true, false]) assert.equal(await errors.restOfChange(isBegun, async () => "done"), "done");
  });

  it("fails as its first part did: nothing was changed", async () => {
    assert.equal(await failing(false, down), down);
  });

  it("has an unknown outcome when the store fails after a part was stored", async () => {
    for (const error of [down, new errors.PatternsUnavailable("No thread.")]) {
      const failure = await failing(true, error);
      assert.ok(failure instanceof errors.OutcomeUnknown);
      assert.equal(failure.message, "The store failed after a part of the change was stored.");
      assert.equal(failure.cause, error);
    }
  });

  it("keeps an outcome that was unknown already, and every failure that is not the store's", async () => {
    for (const error of [new errors.OutcomeUnknown("COMMIT was not answered."), new errors.NotFound("Gone.")])
      assert.equal(await failing(true, error), error);
  });
});
