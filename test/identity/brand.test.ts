import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { longestTermsBytes, type NewBrand } from "../../src/identity/brand.ts";
import { largestLogoBytes } from "../../src/identity/logo.ts";
import { BadParameter, NotFound } from "../../src/model/errors.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { madeIdentity } from "./made-identity.ts";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const jpeg = Buffer.from("ffd8ffe000104a464946", "hex");
const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1");
const svgWith = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inside}</svg>`;
const svg = Buffer.from(svgWith(`<path id="p" d="M0 0h8v8z"/><use href="#p"/>`));

async function acme(t: TestContext) {
  const { identity, clock } = await madeIdentity(t);
  const { tenantId } = await identity.addTenant({ name: "Acme", appId: 7 });
  return { identity, clock, tenantId };
}

describe("a tenant's brand", () => {
  it("is empty at first, and each part is set and removed on its own", async (t) => {
    const { identity, tenantId } = await acme(t);
    const none = { accent: undefined, supportUrl: undefined, hasLogo: false, terms: undefined };
    assert.deepEqual(await identity.brandOf(tenantId), { tenantName: "Acme", ...none });
    assert.equal(await identity.logoOf(tenantId), undefined);
    await identity.setBrand(tenantId, { accent: "#0B6470", supportUrl: "https://help.acme.example/" });
    await identity.setBrand(tenantId, { logo: png });
    const chosen = { ...none, accent: "#0b6470", supportUrl: "https://help.acme.example/", hasLogo: true };
    assert.deepEqual(await identity.brandOf(tenantId), { tenantName: "Acme", ...chosen });
    await identity.setBrand(tenantId, { accent: null, logo: null });
    const left = { ...none, supportUrl: "https://help.acme.example/" };
    assert.deepEqual(await identity.brandOf(tenantId), { tenantName: "Acme", ...left });
    assert.equal(await identity.logoOf(tenantId), undefined);
    await assert.rejects(identity.brandOf(99 as TenantId), NotFound);
  });

  const pictures = { "image/png": png, "image/jpeg": jpeg, "image/webp": webp, "image/svg+xml": svg };
  for (const [type, bytes] of Object.entries(pictures)) {
    it(`detects ${type} by its bytes and returns them`, async (t) => {
      const { identity, tenantId } = await acme(t);
      await identity.setBrand(tenantId, { logo: bytes });
      assert.deepEqual(await identity.logoOf(tenantId), { type, bytes });
    });
  }

  it("accepts an SVG as drawing programs save it", async (t) => {
    const { identity, tenantId } = await acme(t);
    const head = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n`;
    const drawn = svgWith(
      `<style>path { fill: url(#g) }</style><image xlink:href="data:image/png;base64,AAAA"/><g><title>On sale</title></g>`,
    );
    await identity.setBrand(tenantId, { logo: Buffer.from(head + drawn) });
    assert.equal((await identity.logoOf(tenantId))?.type, "image/svg+xml");
  });

  it("accepts a logo of 64 kB and no larger one", async (t) => {
    const { identity, tenantId } = await acme(t);
    const sized = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);
    await identity.setBrand(tenantId, { logo: sized(largestLogoBytes) });
    await assert.rejects(identity.setBrand(tenantId, { logo: sized(largestLogoBytes + 1) }), /at most 64 kB/);
  });

  const wrong: readonly (readonly [string, NewBrand, RegExp])[] = [
    ["an accent that is no colour", { accent: "blue" }, /#rrggbb/],
    ["an accent of three digits", { accent: "#123" }, /#rrggbb/],
    ["an accent that nothing can be read on", { accent: "#777777" }, /4\.5:1/],
    ["an empty accent", { accent: "" }, /#rrggbb/],
    ["a support address without encryption", { supportUrl: "http://help.example" }, /https:\/\//],
    ["a support address that runs a script", { supportUrl: "javascript:alert(1)" }, /https:\/\//],
    ["a support address with a password", { supportUrl: "https://a:b@help.example" }, /name no user/],
    ["a support address with a space", { supportUrl: "https://help.example/a b" }, /without spaces/],
    ["an endless support address", { supportUrl: `https://help.example/${"x".repeat(2_000)}` }, /2000 characters/],
    ["a text as a logo", { logo: Buffer.from("logo") }, /PNG, JPEG, WebP or SVG/],
    ["an empty logo", { logo: Buffer.alloc(0) }, /PNG, JPEG, WebP or SVG/],
    ["a web page as a logo", { logo: Buffer.from("<!doctype html><svg></svg>") }, /PNG, JPEG, WebP or SVG/],
    ...(
      [
        ["a script", "<script>alert(1)</script>", /scripts/],
        ["a script under another name", `<é:script xmlns:é="x">1</é:script>`, /scripts/],
        ["a handler", `<path onload="alert(1)"/>`, /event handlers/],
        ["a handler without a space before it", `<path d=""onload="alert(1)"/>`, /event handlers/],
        ["a page inside", "<foreignObject/>", /foreign content/],
        ["a link elsewhere", `<a href="https://elsewhere.example"/>`, /other places/],
        ["a script as a link", `<a xlink:href = 'javascript:alert(1)'/>`, /other places/],
        ["a link that an animation sets", `<set attributeName="href" to="javascript:alert(1)"/>`, /animations/],
        ["a style from elsewhere", "<style>@import 'x'</style>", /other places/],
        ["a fill from elsewhere", `<path fill="URL( https://elsewhere.example )"/>`, /other places/],
        ["a disguised address", String.raw`<path style="fill:u\72l(https://elsewhere.example)"/>`, /backslashes/],
        ["a style sheet from elsewhere", `<?xml-stylesheet href="#x"?>`, /processing instruction/],
        ["a document type", `<!DOCTYPE svg [<!ENTITY x "y">]>`, /document type/],
      ] as const
    ).map(([what, inside, says]) => [`an SVG with ${what}`, { logo: Buffer.from(svgWith(inside)) }, says] as const),
  ];
  for (const [what, brand, says] of wrong) {
    it(`refuses ${what} with a sentence, and changes nothing`, async (t) => {
      const { identity, tenantId } = await acme(t);
      const before = await identity.brandOf(tenantId);
      const isSaid = (error: unknown) => error instanceof BadParameter && says.test(error.message);
      await assert.rejects(identity.setBrand(tenantId, { accent: "#0b6470", ...brand }), isSaid);
      assert.deepEqual(await identity.brandOf(tenantId), before);
    });
  }
});

describe("a tenant's terms", () => {
  it("have a text, a version and the date since when they are valid", async (t) => {
    const { identity, clock, tenantId } = await acme(t);
    await identity.setTerms(tenantId, { text: "\uFEFF\r\nBe kind.\r\n\tPay.\rGo.\n\n", version: " 2026-01 " });
    const { terms } = await identity.brandOf(tenantId);
    assert.deepEqual(terms, {
      text: "Be kind.\n\tPay.\nGo.",
      version: "2026-01",
      dateMs: clock.nowMs,
      isRequired: false,
      refreshesEndMs: undefined,
    });
    clock.nowMs += 1_000;
    await identity.setTerms(tenantId, { text: "Be kinder.", version: "2026-02" });
    assert.equal((await identity.brandOf(tenantId)).terms?.dateMs, clock.nowMs);
    await identity.setTerms(tenantId, null);
    assert.equal((await identity.brandOf(tenantId)).terms, undefined);
  });

  it("can't be empty, too long or hold control characters", async (t) => {
    const { identity, tenantId } = await acme(t);
    const longest = "語".repeat(Math.floor(longestTermsBytes / 3));
    await identity.setTerms(tenantId, { text: longest, version: "🏠".repeat(60) });
    const wrong: readonly (readonly [string, string, string])[] = [
      ["", "1", "terms"],
      [" \n ", "1", "terms"],
      [`${longest}語`, "1", "terms"],
      ["a\u001b[31m", "1", "terms"],
      ["a\u0085b", "1", "terms"],
      ["a\0b", "1", "terms"],
      ["half \uD83C", "1", "terms"],
      ["Be kind.", "", "version"],
      ["Be kind.", "x".repeat(61), "version"],
      ["Be kind.", "1\n2", "version"],
    ];
    for (const [text, version, parameter] of wrong) {
      const isNamed = (error: unknown) => error instanceof BadParameter && error.parameter === parameter;
      await assert.rejects(identity.setTerms(tenantId, { text, version }), isNamed, JSON.stringify([text, version]));
    }
    assert.equal((await identity.brandOf(tenantId)).terms?.text, longest);
  });
});
