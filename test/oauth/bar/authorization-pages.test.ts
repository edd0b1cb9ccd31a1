import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ada, oauthWorld } from "../oauth-world.ts";
import { formOf, type Shown } from "../scripted-browser.ts";
import { accept, atLogin } from "./browsing.ts";
import { everyPage, policyOf, tagsOf } from "./shown-pages.ts";

describe("the pages of the authorization server", () => {
  it("11: forbids framing of every page", async (t) => {
    for (const [name, shown] of await everyPage(await oauthWorld(t, { isClockStill: true }))) {
      assert.deepEqual(policyOf(shown).get("frame-ancestors"), ["'none'"], name);
      assert.equal(shown.headers.get("x-frame-options")?.toUpperCase(), "DENY", name);
    }
  });

  it("12: sends no referrer to other sites, and loads nothing from them", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    for (const [name, shown] of await everyPage(world)) {
      assert.equal(shown.headers.get("referrer-policy"), "no-referrer", name);
      for (const tag of tagsOf(shown.body)) {
        const loaded = ["src", "srcset", "data", "poster", "background", "xlink:href", "ping", "manifest"];
        if (["link", "use", "image"].includes(tag.name)) loaded.push("href");
        for (const attribute of loaded) {
          const address = tag.attributes.get(attribute);
          if (address === undefined || address.startsWith("data:")) continue;
          assert.equal(new URL(address, world.baseUrl).origin, world.baseUrl, `${name}: ${tag.name} ${attribute}`);
        }
        if (tag.name === "meta") assert.notEqual(tag.attributes.get("name"), "referrer", "the header says it");
      }
      assert.doesNotMatch(shown.body, /@import|url\(\s*["']?(?!data:)/i, name);
    }
    const decided = await accept(world);
    assert.ok(!decided.body.includes("<"), "the answer with a code is no page");
    assert.equal(decided.headers.get("link"), null);
    assert.equal(decided.headers.get("referrer-policy"), "no-referrer");
  });

  const payloads = [
    `"><script>alert(1)</script>`,
    `'><img src=x onerror=alert(1)>`,
    `</title></style><svg onload=alert(1)>`,
    `"autofocus onfocus=alert(1) x="`,
    `' onclick=alert(1) '`,
    "`><iframe>&lt;b&gt;&#60;i&#62;",
    "</textarea><a href=javascript:alert(1)>",
    "{{7*7}}<%= 7*7 %><!--",
  ];
  const allowed =
    `html head meta title style link body header main footer section div h1 h2 h3 p ul ol li span strong em
    b small a form fieldset legend label input button img svg path rect circle g use br hr dl dt dd nav code details
    summary bdi time`.split(/\s+/);

  function assertHarmless(shown: Shown, why: string): void {
    for (const { name, attributes } of tagsOf(shown.body)) {
      assert.ok(allowed.includes(name), `${why}: <${name}>`);
      for (const [attribute, value] of attributes) {
        assert.doesNotMatch(attribute, /^on|^style$|^srcdoc$|^formaction$/, `${why}: <${name} ${attribute}>`);
        assert.doesNotMatch(value, /^\s*(javascript|vbscript|data:text)/i, `${why}: <${name} ${attribute}>`);
      }
    }
  }

  it("16: escapes every value of a request, a client or a tenant", async (t) => {
    const world = await oauthWorld(t);
    for (const [index, payload] of payloads.entries()) {
      const tenant = `${index} ${payload}`.slice(0, 60);
      const { identity } = world.service.parts;
      await identity.addTenant({ name: tenant });
      const person = { name: payload.slice(0, 60), password: "correct horse" };
      await identity.addUser({ tenant, ...person, isAdmin: false });
      const redirectUris = ["https://a.example/?q='x'&y=(1)"];
      const { id: client_id } = await world.addClient({ tenant, name: payload.slice(0, 60), redirectUris });
      const address = world.authorizeUrl({ client_id, state: payload, scope: payload, ui_locales: payload });
      const browser = world.browser();
      const login = await browser.get(address);
      const pages = {
        login,
        "typed name": await browser.submit(formOf(login), { username: payload, password: payload }),
        terms: await browser.signIn(address, person),
        "unknown client": await browser.get(world.authorizeUrl({ client_id: payload, redirect_uri: payload })),
        "unknown address": await browser.get(world.authorizeUrl({ redirect_uri: `https://a.example/${payload}` })),
        "foreign transaction": await browser.get(`/oauth2/terms?transaction=${encodeURIComponent(payload)}`),
        "changed fields": await browser.submit(
          { action: formOf(login).action, fields: {} },
          Object.fromEntries(Object.keys(formOf(login).fields).map((name) => [name, payload])),
        ),
      };
      assert.deepEqual(
        Object.values(pages).map(({ status }) => status),
        [200, 401, 200, 400, 400, 400, 400],
        payload,
      );
      for (const [name, shown] of Object.entries(pages)) assertHarmless(shown, `${payload} on ${name}`);
      assert.ok(textOf(pages.terms.body).includes(payload.slice(0, 60)), "the client is named as it is called");
      assert.ok(textOf(login.body).includes(tenant.replace(/\s+/g, " ")), "the tenant is named as it is called");
    }
  });

  it("16: escapes a tenant's branding and terms, and refuses invalid addresses", async (t) => {
    const world = await oauthWorld(t);
    const { identity } = world.service.parts;
    for (const accent of ["red", "#fff;}body{}", "#1a5fb4</style><script>", "url(https://evil.example)"]) {
      await assert.rejects(identity.setBrand(world.tenantId, { accent }), /accent|colour|#/i, accent);
    }
    for (const supportUrl of ["javascript:alert(1)", "http://a.example", "//a.example", "/help", "https:a.example"]) {
      await assert.rejects(identity.setBrand(world.tenantId, { supportUrl }), /support/i, supportUrl);
    }
    const supportUrl = `https://help.example/"onmouseover="alert(1)'<b>`;
    await identity.setBrand(world.tenantId, { supportUrl, accent: "#1a5fb4" });
    for (const [index, payload] of payloads.entries()) {
      await identity.setTerms(world.tenantId, {
        text: `${payload}\n${payload}`,
        version: `${index}${payload}`.slice(0, 60),
      });
      const login = await world.browser().get(world.authorizeUrl());
      const terms = await world.browser().signIn(world.authorizeUrl(), ada);
      for (const shown of [login, terms]) {
        assertHarmless(shown, payload);
        assert.ok(
          tagsOf(shown.body).some(({ attributes }) => attributes.get("href")?.startsWith("https://help.example/")),
        );
      }
      assert.ok(textOf(terms.body).includes(payload), "the terms are shown as they are");
    }
  });

  it("16: has a policy that allows its own styles and logo, no script, and the redirect to the client", async (t) => {
    for (const [name, shown] of await everyPage(await oauthWorld(t, { isClockStill: true }))) {
      const policy = policyOf(shown);
      assert.deepEqual(policy.get("default-src"), ["'none'"], name);
      assert.ok(!policy.has("form-action"), `${name}: form-action stops the redirect to another origin`);
      for (const [directive, sources] of policy) {
        if (directive === "default-src" || directive === "frame-ancestors") continue;
        assert.ok(["style-src", "img-src", "base-uri", "script-src"].includes(directive), `${name}: ${directive}`);
        const isOwn = /^('self'|'none'|'sha256-[A-Za-z0-9+/=]{44}'|'nonce-[A-Za-z0-9+/_=-]{22,}')$/;
        for (const source of sources) {
          assert.ok(
            isOwn.test(source) || (directive === "img-src" && source === "data:"),
            `${name}: ${directive} ${source}`,
          );
        }
      }
      assert.deepEqual(policy.get("script-src") ?? ["'none'"], ["'none'"], name);
      assert.equal(shown.headers.get("x-content-type-options"), "nosniff", name);
      assertHarmless(shown, name);
    }
  });

  it("25: works with forms only, without script or pop-ups", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    for (const [name, shown] of await everyPage(world)) {
      const tags = tagsOf(shown.body);
      for (const { name: tag, attributes } of tags) {
        assert.ok(!["script", "noscript", "iframe", "dialog"].includes(tag), `${name}: ${tag}`);
        if (tag === "form" || tag === "button" || tag === "input") assert.ok(!attributes.has("target"), name);
        if (tag === "form") assert.equal(attributes.get("method")?.toLowerCase(), "post", name);
      }
    }
    const { body } = await world.browser().get(world.authorizeUrl());
    const tags = tagsOf(body);
    const inputs = new Map(tags.filter(({ name }) => name === "input").map((tag) => [tag.attributes.get("name"), tag]));
    assert.equal(inputs.get("username")?.attributes.get("autocomplete"), "username");
    assert.equal(inputs.get("password")?.attributes.get("autocomplete"), "current-password");
    assert.equal(inputs.get("password")?.attributes.get("type"), "password");
    assert.equal(inputs.get("password")?.attributes.get("value") ?? "", "");
    const submits = tags.filter(({ name, attributes }) => name === "button" && attributes.get("type") !== "button");
    assert.ok(submits.length > 0, "Enter alone must not be the only way");
    const terms = await world.browser().signIn(world.authorizeUrl(), ada);
    const choices = tagsOf(terms.body).filter(({ attributes }) => attributes.get("name") === "decision");
    assert.deepEqual(choices.map(({ attributes }) => attributes.get("value")).sort(), ["accept", "decline"]);
  });

  it("25: never shows the password again", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atLogin(world);
    const shown = await browser.submit(form, { username: "ada", password: "CANARY-password" });
    assert.ok(!shown.body.includes("CANARY"));
    assert.ok(!world.logged.join("").includes("CANARY"));
  });

  function textOf(html: string): string {
    const entities: Readonly<Record<string, string>> = {
      lt: "<",
      gt: ">",
      quot: '"',
      amp: "&",
      "#39": "'",
      "#x27": "'",
    };
    return html
      .replace(/<style[\s\S]*?<\/style>/g, "")
      .replace(/<[^>]*>/g, "")
      .replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? (name === "#96" ? "`" : whole))
      .replace(/\s+/g, " ");
  }
});
