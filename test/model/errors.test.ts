import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as errors from "../../src/model/errors.ts";
import { InsufficientScope, InvalidScope } from "../../src/model/scope-errors.ts";

describe("an error that a caller can react to", () => {
  const codes: readonly (readonly [errors.BreezewayError, code: string])[] = [
    [new errors.InvalidLogin(), "invalid_login"],
    [new errors.BadParameter("name", "Bad."), "bad_parameter"],
    [new errors.UnknownOperation("Bad."), "unknown_operation"],
    [new errors.InvalidSecToken(), "invalid_sec_token"],
    [new errors.TooManyRequests(1), "too_many_requests"],
    [new errors.QuotaExceeded(1, "Too many."), "quota_exceeded"],
    [new errors.ClientGone(), "client_gone"],
    [new errors.UnknownDevice(), "unknown_device"],
    [new errors.UnknownThing(), "unknown_thing"],
    [new errors.UnknownDeviceType(), "unknown_device_type"],
    [new errors.UnknownCommand(), "unknown_command"],
    [new errors.AlreadyFederated("nest"), "already_federated"],
    [new errors.NotFederated("nest"), "not_federated"],
    [new errors.UnknownEcosystem("Bad."), "unknown_ecosystem"],
    [new errors.AnotherAccount("nest"), "another_account"],
    [new errors.EcosystemRefused("Bad."), "ecosystem_refused"],
    [new errors.EcosystemUnreachable("Bad."), "ecosystem_unreachable"],
    [new errors.UnknownAttribute("Bad."), "unknown_attribute"],
    [new errors.ReadOnlyAttribute("Bad."), "read_only_attribute"],
    [new errors.ValueTooLarge("Bad."), "value_too_large"],
    [new errors.BadValue("Bad."), "bad_value"],
    [new errors.UnknownTrigger(), "unknown_trigger"],
    [new errors.LimitReached("alertHopsPerCause", "Bad."), "limit_reached"],
    [new errors.TooManyTriggers("alertHopsPerCause", "Bad."), "too_many_triggers"],
    [new errors.TooManyIdempotencyKeys("alertHopsPerCause", "Bad."), "too_many_idempotency_keys"],
    [new errors.IdempotencyKeyInUse(), "idempotency_key_in_use"],
    [new errors.IdempotencyKeyReused(), "idempotency_key_reused"],
    [new errors.InvalidToken(), "invalid_token"],
    [new errors.MissingToken(), "missing_token"],
    [new errors.MisplacedToken(), "misplaced_token"],
    [new errors.InvalidClient(), "invalid_client"],
    [new errors.InvalidGrant("Bad."), "invalid_grant"],
    [new errors.UnauthorizedClient("Bad."), "unauthorized_client"],
    [new errors.UnsupportedGrantType("Bad."), "unsupported_grant_type"],
    [new errors.Conflict("Bad."), "conflict"],
    [new errors.NotFound("Bad."), "not_found"],
    [new errors.StoreUnavailable("Bad."), "store_unavailable"],
    [new errors.PatternsUnavailable("Bad."), "store_unavailable"],
    [new errors.OutcomeUnknown("Bad."), "outcome_unknown"],
    [new errors.NotRunning("Bad."), "not_running"],
    [new errors.OwnershipLost("Bad."), "ownership_lost"],
    [new errors.EnterpriseOnly(), "enterprise_only"],
    [new errors.NotSignedIn(), "not_signed_in"],
    [new errors.OperatorForbidden(), "operator_forbidden"],
    [new errors.PasswordNeeded(), "password_needed"],
    [new errors.ForeignOrigin(), "foreign_origin"],
    [new InsufficientScope(["alerts"], ["alerts"]), "insufficient_scope"],
    [new InvalidScope(["alerts"], ["links"]), "invalid_scope"],
  ];

  it("keeps its code, whatever its message says", () => {
    assert.deepEqual(
      codes.map(([error]) => error.code),
      codes.map(([, code]) => code),
    );
    const classes = Object.entries(errors).filter(([, value]) => value.prototype instanceof errors.BreezewayError);
    const named = new Set(codes.map(([error]) => error.name));
    assert.deepEqual(
      classes.map(([name]) => name).filter((name) => !named.has(name)),
      [],
      "errors without a case above",
    );
  });

  it("names the parameter, the limit or the scopes that it is about", () => {
    assert.equal(new errors.BadParameter("name", "Bad.").parameter, "name");
    assert.equal(new errors.LimitReached("alertHopsPerCause", "Bad.").limit, "alertHopsPerCause");
    assert.deepEqual(new InsufficientScope(["alerts", "links"], ["links"]).needed, ["alerts", "links"]);
    assert.match(new errors.InvalidClient().message, /secret is wrong/);
  });

  it("says when to try again", () => {
    assert.equal(new errors.TooManyRequests(1).message, "Too many failed attempts. Try again in 1 second.");
    assert.equal(new errors.TooManyRequests(2, "Too many.").message, "Too many. Try again in 2 seconds.");
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
