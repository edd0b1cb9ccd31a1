import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { contrastOf, readColor } from "../../src/model/contrast.ts";
import type { TenantId } from "../../src/model/ids.ts";
import type { Scope } from "../../src/model/scopes.ts";
import { type LoginProblem, loginPage } from "../../src/oauth/pages/login-page.ts";
import { pageBrand } from "../../src/oauth/pages/page-brand.ts";
import { termsPage } from "../../src/oauth/pages/terms-page.ts";
import { html } from "../../src/web/html.ts";
import { messagePage } from "../../src/web/message-page.ts";
import type { Page } from "../../src/web/page.ts";
import { anyCharacter } from "../set-up/any-character.ts";

/** Every page with one text in all variable places, or with an ordinary text in each. */
function pagesWith(text: string | undefined): Record<string, Page> {
  const say = (pleasant: string) => text ?? pleasant;
  const brand = {
    tenantName: say("Northwind"),
    accent: "#c2410c",
    logoUrl: say("/oauth2/logo/7"),
    supportUrl: say("https://help.example/"),
  };
  const common = {
    clientName: say("Lantern"),
    returnsTo: say("lantern.example"),
    action: say("/oauth2/authorize"),
    hidden: { transaction: say("t-1"), csrf: say("c-1") },
  };
  const terms = { text: say("Be kind."), version: say("2.1"), dateMs: Date.UTC(2026, 2, 12) };
  const user = { brand, ...common, accountUrl: say("/account/7"), userName: say("ada"), scopes: null };
  const message = { brand, clientName: say("Lantern"), requestId: say("r-1"), sentence: say("It is broken.") };
  const withoutLogo = { ...brand, logoUrl: undefined };
  const wrong = { kind: "wrong" } as const;
  return {
    login: loginPage({ brand: withoutLogo, ...common, username: "" }),
    loginAgain: loginPage({ brand, ...common, username: say("ada"), problem: wrong }),
    terms: termsPage({ ...user, covers: "user", terms }),
    termsOfTenant: termsPage({ ...user, brand: withoutLogo, covers: "tenant", terms }),
    termsWithoutText: termsPage({ ...user, covers: "user", terms: undefined }),
    error: messagePage({ kind: "error", ...message }),
    errorWithoutBrand: messagePage({ kind: "error", sentence: say("It is broken.") }),
    declined: messagePage({ kind: "declined", ...message }),
    expired: messagePage({ kind: "expired", ...message }),
    accepted: messagePage({ kind: "accepted", ...message }),
  };
}

const plainBrand = { tenantName: "N", accent: undefined, logoUrl: undefined, supportUrl: undefined };
const pages = pagesWith(undefined);
const page = (name: string) => pages[name]!.html;
const tagsOf = (text: string) => text.match(/<[^>]*>/g) ?? [];
const wordsOf = (text: string) =>
  text
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ");

describe("every page", () => {
  for (const [name, { html: text, contentSecurityPolicy }] of Object.entries(pages)) {
    it(`allows nothing but its own style and pictures of our host, and no script: ${name}`, () => {
      const styles = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map((match) => match[1]!);
      assert.equal(styles.length, 1);
      const digest = createHash("sha256").update(styles[0]!).digest("base64");
      assert.equal(
        contentSecurityPolicy,
        `default-src 'none'; style-src 'sha256-${digest}'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'`,
      );
      assert.ok(!/<script|<iframe|<link|\sstyle=|\son[a-z]+=|javascript:|url\(|@import/i.test(text));
      assert.ok(!/(src|action)="(https?:)?\/\//i.test(text));
    });

    it(`declares its language, fits a phone, follows the colour scheme and has one h1: ${name}`, () => {
      assert.match(text, /^<!doctype html>\n<html lang="en">/);
      assert.match(text, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
      assert.match(text, /@media\(prefers-color-scheme:dark\)/);
      assert.match(text, /<title>[^<]+<\/title>/);
      assert.equal(text.match(/<h1>/g)?.length, 1);
      assert.equal(text.match(/<main>/g)?.length, 1);
    });

    it(`is small: ${name}`, () => {
      assert.ok(Buffer.byteLength(text) < 9_000, `${Buffer.byteLength(text)} bytes`);
    });
  }

  it("stays below 15 kB with the longest names and terms of 6,000 characters", () => {
    const long = "W".repeat(60);
    const brand = { tenantName: long, accent: "#c2410c", logoUrl: undefined, supportUrl: `https://${long}.example/` };
    const { html: text } = termsPage({
      brand,
      accountUrl: "/account/7",
      clientName: long,
      returnsTo: `${long}.${long}.${long}.example`,
      userName: long,
      covers: "tenant",
      scopes: null,
      terms: { text: "word ".repeat(1_200), version: long, dateMs: 0 },
      action: "/oauth2/authorize",
      hidden: { transaction: long, csrf: long },
    });
    assert.ok(Buffer.byteLength(text) < 15_000, `${Buffer.byteLength(text)} bytes`);
  });
});

describe("a text of a client, a tenant or a user", () => {
  it("never becomes a tag, an attribute or a part of the style, in any place", () => {
    const hostile = ['"><script>alert(1)</script>', "' onfocus='x", "</title></style><b>", "{}*/;--accent:red", "&lt;"];
    const anyText = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: anyCharacter }));
    // Without attribute values, the page has the same tags as with ordinary text.
    const skeleton = (text: string) => tagsOf(text).map((tag) => tag.replace(/="[^"]*"/g, "=…"));
    fc.assert(
      fc.property(anyText, (text) => {
        for (const [name, { html: written, contentSecurityPolicy }] of Object.entries(pagesWith(text || "x"))) {
          assert.deepEqual(skeleton(written), skeleton(page(name)), name);
          assert.equal(contentSecurityPolicy, pages[name]!.contentSecurityPolicy, name);
        }
      }),
    );
  });

  it("is shown unchanged", () => {
    for (const { html: text } of Object.values(pagesWith(`<b>"Tom's" & Co</b>`))) {
      assert.ok(text.includes("&lt;b&gt;&quot;Tom&#39;s&quot; &amp; Co&lt;/b&gt;"));
    }
  });

  it("is not HTML just because it looks like the type Html", () => {
    const claim = { text: "<b>" } as never;
    assert.ok(!html`<p>${claim}</p>`.text.includes("<b>"));
  });

  it("keeps its own writing direction", () => {
    const name = "مريم";
    for (const [place, { html: text }] of Object.entries(pagesWith(name))) {
      for (const around of text.split("<body>")[1]!.matchAll(new RegExp(`(<[^<]*>)[^<>]*${name}`, "g"))) {
        assert.match(around[1]!, /^<bdi|dir="auto"|^<h1>|^<p>|class="id"/, place);
      }
    }
  });
});

describe("the login page", () => {
  it("names the app, the company and the host that the user returns to, and how to get help", () => {
    const words = wordsOf(page("login"));
    assert.match(words, /Lantern asks for access to your Northwind account/);
    assert.match(words, /you return to lantern\.example/);
    assert.match(page("login"), /<a href="https:\/\/help\.example\/"/);
  });

  it("posts a user name and a password, with its hidden fields", () => {
    assert.match(page("login"), /<form method="post" action="\/oauth2\/authorize">/);
    for (const [field, kind] of [
      ["username", "username"],
      ["password", "current-password"],
    ]) {
      const input = tagsOf(page("login")).find((tag) => tag.includes(`name="${field}"`))!;
      assert.match(input, new RegExp(`id="${field}".*autocomplete="${kind}"`));
      assert.match(page("login"), new RegExp(`<label for="${field}">`));
    }
    assert.match(page("login"), /name="username"[^>]*autocapitalize="none"[^>]*spellcheck="false"/);
    assert.match(page("login"), /<input type="hidden" name="transaction" value="t-1">/);
    assert.match(page("login"), /<input type="hidden" name="csrf" value="c-1">/);
  });

  it("shows the user name again and never a password", () => {
    assert.match(page("loginAgain"), /name="username"[^>]*value="ada"/);
    const password = tagsOf(page("loginAgain")).find((tag) => tag.includes('name="password"'))!;
    assert.ok(!password.includes("value="));
  });

  it("shows no problem at first", () => {
    assert.ok(!/role="alert"|aria-invalid|autofocus|Problem/.test(page("login").split("</style>")[1]!));
    assert.match(page("login"), /<title>Sign in/);
  });

  const problems: readonly (readonly [LoginProblem, string])[] = [
    [{ kind: "wrong" }, "The user name or the password is wrong. Check both and try again."],
    [{ kind: "empty" }, "Enter your user name and your password."],
    [{ kind: "tooMany", retryAfterSeconds: 0.2 }, "Too many attempts to sign in. Try again in 1 second."],
    [{ kind: "tooMany", retryAfterSeconds: 45 }, "Too many attempts to sign in. Try again in 45 seconds."],
    [{ kind: "tooMany", retryAfterSeconds: 60 }, "Too many attempts to sign in. Try again in 60 seconds."],
    [{ kind: "tooMany", retryAfterSeconds: 61 }, "Too many attempts to sign in. Try again in 2 minutes."],
    [{ kind: "tooMany", retryAfterSeconds: 3601 }, "Too many attempts to sign in. Try again in 2 hours."],
  ];
  for (const [problem, sentence] of problems) {
    it(`says with a field in focus: ${sentence}`, () => {
      const brand = { tenantName: "N", accent: undefined, logoUrl: undefined, supportUrl: undefined };
      const common = { brand, clientName: "L", returnsTo: "l.example", action: "/a", hidden: {}, problem };
      const again = loginPage({ ...common, username: "ada" }).html;
      assert.ok(
        wordsOf(/<div class="alert" id="problem" role="alert">[\s\S]*?<\/div>/.exec(again)![0]).includes(sentence),
      );
      assert.match(again, /<title>Problem: /);
      assert.equal(again.match(/aria-describedby="problem"/g)?.length, 2);
      assert.match(again, /name="password"[^>]* autofocus>/);
      assert.match(loginPage({ ...common, username: "" }).html, /name="username"[^>]* autofocus>/);
    });
  }

  it("marks the fields as wrong, except when other input would not help", () => {
    const { brand, ...common } = {
      brand: plainBrand,
      clientName: "L",
      returnsTo: "l.example",
      action: "/a",
      hidden: {},
    };
    const marksOf = (problem: LoginProblem) =>
      loginPage({ ...common, brand, username: "ada", problem }).html.match(/ aria-invalid="true"/g)?.length ?? 0;
    assert.deepEqual([{ kind: "wrong" } as const, { kind: "empty" } as const].map(marksOf), [2, 2]);
    assert.deepEqual(
      [{ kind: "tooMany", retryAfterSeconds: 9 } as const, { kind: "suspended" } as const].map(marksOf),
      [0, 0],
    );
  });
});

describe("the login page of a link session", () => {
  it("says for which account it is, and names no host when the user returns to none", () => {
    const brand = { tenantName: "N", accent: undefined, logoUrl: undefined, supportUrl: undefined };
    const common = { brand, clientName: "L", action: "/a", hidden: {}, username: "eve", returnsTo: undefined };
    const { html: text } = loginPage({ ...common, problem: { kind: "otherUser", name: "ada" } });
    assert.match(wordsOf(text), /This page is for the account ada\. Sign in with that account\./);
    assert.doesNotMatch(text, /Afterwards you return/);
    const first = loginPage(common).html;
    assert.match(first, /name="username"[^>]*value="eve"/);
    assert.match(first, /name="password"[^>]* autofocus>/, "the user name is known");
    assert.equal(first.match(/ autofocus/g)?.length, 1);
  });
});

describe("the brand of a page", () => {
  it("has the address of the tenant's logo below the base URL, if the tenant has one", async () => {
    const shown = async (hasLogo: boolean, baseUrl: string) => {
      const identity = { brandOf: async () => ({ ...plainBrand, hasLogo }) } as never;
      return pageBrand(identity, () => baseUrl)(7 as TenantId);
    };
    assert.deepEqual(await shown(false, "https://b.example"), plainBrand);
    assert.equal((await shown(true, "https://b.example")).logoUrl, "/oauth2/logo/7");
    assert.equal((await shown(true, "https://b.example/home/")).logoUrl, "/home/oauth2/logo/7");
  });
});

describe("the terms page", () => {
  it("names the app, the account, the company, what the app may do and the host that the user returns to", () => {
    const words = wordsOf(page("terms"));
    for (const part of [
      "Let Lantern use your account?",
      "ada",
      "signed in to Northwind",
      "If you accept, Lantern may:",
      "See your devices",
      "Change the values of your devices, and start and stop fans, but control nothing else",
      "See and change the alerts on your devices",
      "Be sent what your devices do, as it happens",
      "Manage the accounts that you have linked",
      "Either way you return to lantern.example",
    ]) {
      assert.ok(words.includes(part), part);
    }
  });

  it("says that an enterprise app gets access to every user and device", () => {
    const words = wordsOf(page("termsOfTenant"));
    for (const part of [
      "Let Lantern manage all of Northwind?",
      "covers every user of Northwind",
      "See every user of Northwind",
      "See every device of every user",
      "Change values of every device, and run fans, but control nothing else",
      "See and change the alerts on every device",
      "Be sent what every device does, as it happens",
      "Manage the accounts that users have linked",
    ]) {
      assert.ok(words.includes(part), part);
    }
    assert.ok(!/every/.test(wordsOf(page("terms"))));
  });

  it("names what an enterprise app may do with some scopes only", () => {
    const brand = { tenantName: "Northwind", accent: undefined, logoUrl: undefined, supportUrl: undefined };
    const forms = { accountUrl: "/account/7", action: "/a", hidden: {} };
    const common = { brand, clientName: "L", returnsTo: "l.example", ...forms, userName: "ada" };
    const wordsWith = (scopes: readonly Scope[]) =>
      wordsOf(termsPage({ ...common, covers: "tenant", scopes, terms: undefined }).html);
    assert.ok(wordsWith(["devices:read"]).includes("See every device of every user"));
    assert.ok(!wordsWith(["devices:read"]).includes("control"));
    assert.ok(!wordsWith(["devices:control"]).includes("See every device"));
  });

  it("shows Accept and Decline in the same style", () => {
    const buttons = /<div class="pair">(<button[^>]*>)Decline<\/button>(<button[^>]*>)Accept<\/button><\/div>/.exec(
      page("terms"),
    )!;
    assert.equal(buttons[1], '<button type="submit" name="decision" value="decline">');
    assert.equal(buttons[2]!.replace("accept", "decline"), buttons[1]);
    assert.ok(!/(first|last|nth)-(child|of-type)/.test(/\.pair[^}]*}/.exec(page("terms"))![0]));
  });

  it("shows the terms with version and date, to be scrolled by keyboard", () => {
    assert.match(
      wordsOf(page("terms")),
      /Terms of Northwind Version 2\.1, 12 March 2026 Be kind\. By accepting you agree/,
    );
    assert.match(page("terms"), /<time datetime="2026-03-12">/);
    assert.match(page("terms"), /tabindex="0" role="region" aria-labelledby="terms">Be kind\.</);
    assert.ok(!/agree/.test(wordsOf(page("termsWithoutText"))));
  });
});

describe("a message", () => {
  const sentences = [
    ["expired", "This page has expired Start again from Lantern."],
    ["declined", "Nothing was shared You declined, so Lantern has no access to your account."],
    ["accepted", "You accepted Go on in Lantern."],
    ["error", "It is broken. Go back to Lantern and start again from there."],
  ] as const;
  for (const [name, sentence] of sentences) {
    it(`says: ${sentence}`, () => assert.ok(wordsOf(page(name)).includes(sentence), wordsOf(page(name))));
  }

  it("about an error shows the request id", () => {
    assert.match(wordsOf(page("error")), /Request r-1/);
  });

  it("needs neither an app nor a tenant", () => {
    assert.match(wordsOf(messagePage({ kind: "expired" }).html), /Start again from the app\./);
    assert.match(wordsOf(messagePage({ kind: "error" }).html), /Something went wrong\./);
  });
});

describe("a tenant's accent", () => {
  const styled = (accent: string | undefined) => {
    const brand = { tenantName: "N", accent, logoUrl: undefined, supportUrl: undefined };
    const { html: text } = messagePage({ kind: "accepted", brand });
    const [light, dark] = [...text.matchAll(/:root\{([^}]*--edge:[^}]*)\}/g)].map((match) => match[1]!);
    const color = (rules: string, name: string) => readColor(new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(rules)![1]!)!;
    return { light: light!, dark: dark!, color };
  };

  it("colours buttons, with text that is readable on it", () => {
    for (const accent of ["#c2410c", "#ffd400", "#12205a"]) {
      const { light, color } = styled(accent);
      assert.deepEqual(color(light, "accent"), readColor(accent));
      assert.ok(contrastOf(color(light, "accent"), color(light, "on-accent")) >= 4.5);
    }
  });

  it("gives outlines and links that are visible in both colour schemes", () => {
    for (const accent of ["#ffd400", "#12205a", "#000000", "#ffffff", undefined]) {
      const { light, dark, color } = styled(accent);
      for (const [rules, surfaces] of [
        [light, ["#f4f6f8", "#ffffff"]],
        [dark, ["#0f1217", "#1a1f26", "#12161b"]],
      ] as const) {
        for (const surface of surfaces) {
          assert.ok(contrastOf(color(rules, "edge"), readColor(surface)!) >= 3);
          assert.ok(contrastOf(color(rules, "link"), readColor(surface)!) >= 4.5);
        }
      }
    }
  });

  it("that is not a colour can't get into the style", () => {
    const brand = { tenantName: "N", accent: "red}body{display:none", logoUrl: undefined, supportUrl: undefined };
    assert.ok(!messagePage({ kind: "accepted", brand }).html.includes("display:none"));
  });
});
