import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ecosystemName } from "../../src/cli/ecosystems.ts";
import { codeFlowOf } from "../../src/cli/remote/consent.ts";
import { ConfigurationError } from "../../src/config/config.ts";
import { BadParameter } from "../../src/model/errors.ts";

const one = { protocol: "nest", apiUrl: "https://home.example" };
const chosen = (typed: { ecosystem?: string }, setting?: string | object) => {
  const text = typeof setting === "object" ? JSON.stringify(setting) : setting;
  return ecosystemName({ typed, sources: { flags: {}, environment: { BREEZEWAY_ECOSYSTEMS: text } } });
};

describe("the ecosystem of a command", () => {
  it("is the one that --ecosystem names, whatever is configured", () => {
    assert.equal(chosen({ ecosystem: "Other" }, { a: one, b: one }), "Other");
    assert.equal(chosen({ ecosystem: "Other" }, "{"), "Other");
  });

  it("is the only configured one when --ecosystem is left out", () => {
    assert.equal(chosen({}, { Cabin: one }), "cabin");
    assert.equal(chosen({}), "nest");
  });

  it("must be named when several or none are configured", () => {
    assert.throws(
      () => chosen({}, { a: one, b: one }),
      new BadParameter(
        "ecosystem",
        "--ecosystem is missing, and BREEZEWAY_ECOSYSTEMS has several ecosystems. Name one of a, b.",
      ),
    );
    assert.throws(
      () => chosen({}, {}),
      new BadParameter("ecosystem", "--ecosystem is missing, and BREEZEWAY_ECOSYSTEMS has no ecosystem. Name one."),
    );
  });

  it("needs no other setting to be right, but this one", () => {
    const sources = { flags: {}, environment: { BREEZEWAY_PORT: "eighty", BREEZEWAY_TYPO: "1" } };
    assert.equal(ecosystemName({ typed: {}, sources }), "nest");
    assert.throws(
      () => chosen({}, "{"),
      (error) => error instanceof ConfigurationError && /BREEZEWAY_ECOSYSTEMS is not JSON/.test(error.message),
    );
  });
});

describe("the consent of an account's owner in a browser", () => {
  const consent = { authUrl: "https://a.example", tokenUrl: "https://b.example", clientId: "c", clientSecret: "s" };

  it("is refused for a protocol that only takes tokens", () => {
    assert.throws(
      () => codeFlowOf({ name: "a", protocol: "p", consent }, { consent: "token" }),
      new BadParameter("consent", "a has no consent in a browser. Pipe a token of the account in."),
    );
  });

  it("needs the addresses and the client in the settings", () => {
    assert.equal(codeFlowOf({ name: "a", protocol: "p", consent }, { consent: "code" }), consent);
    assert.throws(
      () => codeFlowOf({ name: "a", protocol: "p" }, { consent: "code" }),
      /BREEZEWAY_ECOSYSTEMS must give authUrl, tokenUrl, clientId and clientSecret of a, to ask its users/,
    );
  });
});
