import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { hashOf } from "../../src/identity/secrets.ts";
import { NotFound } from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { missingTerms } from "../../src/oauth/accepted-terms.ts";
import { clientRedirectUrl, denied } from "../../src/oauth/authorize/client-redirect.ts";
import { exchangeProblem } from "../../src/oauth/exchange-problem.ts";
import { grantAdministrationOn } from "../../src/oauth/grant-administration.ts";
import type { CodeRow } from "../../src/store/tables/codes.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";

const redirectUri = "https://voice.example/back";
const verifier = "v".repeat(43);

/** What is wrong with an exchange of this code; undefined when it is right. */
function problem(code: Partial<CodeRow>, sent: { redirectUri?: string; verifier?: string } = {}) {
  const row = { redirectUri, isRedirectUriSent: true, challenge: null, ...code } as CodeRow;
  return exchangeProblem(row, { redirectUri: undefined, verifier: undefined, ...sent });
}

describe("the exchange of a code", () => {
  it("needs the redirect address that the authorization request had", () => {
    assert.equal(problem({}, { redirectUri }), undefined);
    assert.match(problem({}) ?? "", /redirect_uri differs/);
    assert.match(problem({}, { redirectUri: `${redirectUri}/` }) ?? "", /redirect_uri differs/);
    assert.equal(problem({ isRedirectUriSent: false }), undefined);
    assert.equal(problem({ isRedirectUriSent: false }, { redirectUri }), undefined);
    assert.match(problem({ isRedirectUriSent: false }, { redirectUri: "https://evil.example" }) ?? "", /differs/);
  });

  it("needs the verifier of the challenge, and none without a challenge", () => {
    const challenge = hashOf(verifier);
    assert.equal(challenge, createHash("sha256").update(verifier).digest("base64url"), "S256");
    assert.equal(problem({ challenge }, { redirectUri, verifier }), undefined);
    assert.match(problem({ challenge }, { redirectUri }) ?? "", /code_verifier is missing/);
    assert.match(problem({}, { redirectUri, verifier }) ?? "", /had no code_challenge/);
    assert.match(problem({ challenge }, { redirectUri, verifier: "w".repeat(43) }) ?? "", /doesn't fit/);
    for (const odd of ["v".repeat(42), "v".repeat(129), `${verifier} `]) {
      assert.match(problem({ challenge: hashOf(odd) }, { redirectUri, verifier: odd }) ?? "", /doesn't fit/);
    }
    assert.equal(
      problem({ challenge: hashOf("v".repeat(128)) }, { redirectUri, verifier: "v".repeat(128) }),
      undefined,
    );
  });
});

describe("the redirect to a client", () => {
  it("keeps a query, encodes values, and leaves out what is not there", () => {
    const parameters = { code: "a b&c", state: undefined };
    const end = "code=a%20b%26c&iss=https%3A%2F%2Fhere.example";
    assert.equal(clientRedirectUrl(redirectUri, "https://here.example", parameters), `${redirectUri}?${end}`);
    assert.equal(
      clientRedirectUrl(`${redirectUri}?x=1`, "https://here.example", parameters),
      `${redirectUri}?x=1&${end}`,
    );
  });

  it("says why access is denied", () => {
    assert.deepEqual(
      Object.values(denied).map(({ error }) => error),
      ["access_denied", "access_denied", "access_denied"],
    );
    assert.match(denied.notAdmin.error_description, /administrator/);
    assert.match(denied.declined.error_description, /declined/);
    assert.match(denied.expired.error_description, /expired/);
  });
});

describe("a grant whose terms have changed", () => {
  const day = 86_400_000;
  const problemOf = (termsMs: number | null, requiredTermsMs: number | null, termsDeadlineMs: number | null) => {
    const tenants = { termsRequirement: async () => ({ requiredTermsMs, termsDeadlineMs }) };
    return missingTerms({ tenants } as never, { tenantId: 1, termsMs } as unknown as GrantRow, 10 * day);
  };

  it("is refreshed until the deadline, and from then on only with the required terms", async () => {
    assert.equal(await problemOf(null, null, null), undefined);
    assert.equal(await problemOf(null, 5 * day, 10 * day + 1), undefined);
    assert.match((await problemOf(null, 5 * day, 10 * day)) ?? "", /authorization again/);
    assert.match((await problemOf(5 * day - 1, 5 * day, 10 * day)) ?? "", /authorization again/);
    assert.equal(await problemOf(5 * day, 5 * day, 10 * day), undefined);
    assert.equal(await problemOf(1, 5 * day, null), undefined, "terms without a deadline end nothing");
  });
});

describe("the end of a grant by an administrator", () => {
  it("ends it for the caches too, and is refused when there is no such grant", async () => {
    const grant = { id: "g1", userId: 7 as UserId, tenantId: 1 as TenantId };
    const [logged, ended]: [unknown[], string[]] = [[], []];
    let isThere = true;
    const removeAll = async (grants: readonly object[]) => {
      const ended = isThere ? grants : [];
      isThere = false;
      return ended;
    };
    const lock = async (ownerId: number, id: string) => (isThere && ownerId === 7 && id === "g1" ? grant : undefined);
    const tables = {
      ...{ grants: { lock, removeAll }, clock: { nowMs: async () => 5 } },
      log: { appendAll: async (entries: readonly object[]) => void logged.push(...entries) },
    };
    const run = (body: (tx: typeof tables) => unknown) => body(tables);
    const administration = grantAdministrationOn({
      store: { isShared: false, read: run, transaction: run } as never,
      grantsEnded: (ids) => void ended.push(...ids),
    });
    await assert.rejects(administration.endGrant({ ...grant, id: "g2" }), NotFound);
    assert.deepEqual(ended, []);
    await administration.endGrant(grant);
    assert.deepEqual(ended, ["g1"]);
    const entry = { userId: 7, deviceId: null, kind: "revocation", timeMs: 5, body: '{"grant":"g1"}' };
    assert.deepEqual(logged, [entry]);
    await assert.rejects(administration.endGrant(grant), NotFound);
  });
});
