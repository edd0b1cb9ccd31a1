import assert from "node:assert/strict";
import { ada, type OAuthWorld } from "../oauth-world.ts";
import { formOf, type Shown } from "../scripted-browser.ts";

/** Asserts a redirect to exactly that address, and returns its parameters, each of which occurs once. */
export function redirectParameters(shown: Shown, to: string): ReadonlyMap<string, string> {
  assert.equal(shown.status, 302, `${shown.status} ${shown.body}`);
  const joint = to.includes("?") ? "&" : "?";
  assert.ok(shown.location.startsWith(to + joint), `sent to ${shown.location}`);
  assert.ok(!shown.location.includes("#"), "nothing goes into the fragment");
  const pairs = [...new URLSearchParams(shown.location.slice(to.length + 1))];
  const parameters = new Map(pairs);
  assert.equal(parameters.size, pairs.length, `each parameter once: ${shown.location}`);
  // RFC 6749 4.1.2.1: neither quotes nor backslashes, and ASCII alone.
  assert.match(parameters.get("error_description") ?? "", /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
  return parameters;
}

/** The sorted names of the parameters. */
export function namesOf(parameters: ReadonlyMap<string, string>): string[] {
  return [...parameters.keys()].sort();
}

/** Asserts an error page without a link to a client. */
export function assertErrorPage(shown: Shown, why: string): void {
  assert.equal(shown.status, 400, `${why}: ${shown.status} ${shown.location}`);
  assertNoRedirect(shown, why);
}

/** Asserts an HTML answer that redirects nowhere. */
export function assertNoRedirect(shown: Shown, why: string): void {
  assert.equal(shown.location, "", `${why}: redirected`);
  assert.equal(shown.headers.get("refresh"), null, why);
  assert.match(shown.headers.get("content-type") ?? "", /^text\/html; ?charset=utf-8$/i, why);
  for (const { name, attributes } of tagsOf(shown.body)) {
    assert.ok(name !== "meta" || !attributes.has("http-equiv"), `${why}: the page redirects`);
  }
}

export interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** The opening tags of a page as a browser would see them. */
export function tagsOf(html: string): Tag[] {
  return [...html.matchAll(/<([a-z][^\s/>]*)((?:"[^"]*"|'[^']*'|[^'">])*)>/gi)].map(([, name, rest]) => ({
    name: name!.toLowerCase(),
    attributes: attributesOf(rest!),
  }));
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g);
  return new Map([...found].map(([, name, ...values]) => [name!.toLowerCase(), values.find((one) => one) ?? ""]));
}

/** The directives of a page's Content-Security-Policy. */
export function policyOf({ headers }: Shown): ReadonlyMap<string, readonly string[]> {
  const text = headers.get("content-security-policy") ?? "";
  assert.ok(!text.includes(","), "one policy");
  const directives = text
    .split(";")
    .map((one) => one.trim().split(/\s+/))
    .filter(([name]) => name);
  const policy = new Map(directives.map(([name, ...sources]) => [name!.toLowerCase(), sources]));
  assert.equal(policy.size, directives.length, "a second directive of one name has no effect");
  return policy;
}

/** All kinds of pages, by what leads to them. */
export async function everyPage(world: OAuthWorld): Promise<ReadonlyMap<string, Shown>> {
  const pages = new Map<string, Shown>();
  const browser = world.browser();
  const login = await browser.get(world.authorizeUrl());
  pages.set("login", login);
  for (let failures = 0; failures < 5; failures++) {
    pages.set("wrong password", await browser.submit(formOf(login), { username: "mallory", password: "guess" }));
  }
  pages.set("too many attempts", await browser.submit(formOf(login), { username: "mallory", password: "guess" }));
  pages.set("terms", await world.browser().signIn(world.authorizeUrl(), ada));
  pages.set("unknown client", await browser.get(world.authorizeUrl({ client_id: "nobody" })));
  pages.set("unknown address", await browser.get(world.authorizeUrl({ redirect_uri: "https://evil.example/" })));
  pages.set("lost cookie", await world.browser().submit(formOf(login), { username: "ada", password: "guess" }));
  pages.set("terms without login", await world.browser().get("/oauth2/terms"));
  const expected = [200, 401, 429, 200, 400, 400, 400, 400];
  assert.deepEqual(
    [...pages.values()].map(({ status }) => status),
    expected,
    [...pages.keys()].join(", "),
  );
  return pages;
}
