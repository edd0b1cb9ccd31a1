import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import spectralRulesets from "@stoplight/spectral-rulesets";
import { openApiDocument } from "../../src/http/documentation/openapi.ts";
import { madeTable } from "./made-table.ts";

const deployment = { version: "1.2.3", baseUrl: "https://breezeway.example" };
const text = JSON.stringify(openApiDocument(madeTable(), deployment));

describe("the OpenAPI document", () => {
  it("has no finding by Spectral's rules for OpenAPI", async () => {
    const spectral = new spectralCore.Spectral();
    spectral.setRuleset(spectralRulesets.oas as RulesetDefinition);
    const findings = await spectral.run(JSON.parse(text));
    assert.deepEqual(
      findings.map(({ code, path, message }) => `${code} at ${path.join("/")}: ${message}`),
      [],
    );
  });

  it("has no finding by Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const findings = await lintFromString({ source: text, absoluteRef: "/openapi.json", config });
    assert.deepEqual(
      findings.map(({ ruleId, location, message }) => `${ruleId} at ${location[0]?.pointer}: ${message}`),
      [],
    );
  });
});
