import assert from "node:assert/strict";
import { ada, callback, type OAuthWorld } from "../oauth-world.ts";
import { type Form, formOf, type ScriptedBrowser, type Shown } from "../scripted-browser.ts";
import { redirectParameters } from "./shown-pages.ts";

export const right = { username: ada.name, password: ada.password };
export const wrong = { username: ada.name, password: "wrong" };

/** Sends an authorization request with exactly this query. */
export function ask(world: OAuthWorld, query: string): Promise<Shown> {
  return world.browser().get(`/oauth2/authorize?${query}`);
}

/** A valid query with these changes; undefined removes a parameter. */
export function queryOf(world: OAuthWorld, change: Readonly<Record<string, string | undefined>> = {}): string {
  return new URL(world.authorizeUrl(change)).search.slice(1);
}

/** A browser that shows the login page. */
export async function atLogin(world: OAuthWorld, browser = world.browser()) {
  return { browser, form: formOf(await browser.get(world.authorizeUrl())) };
}

/** A browser that shows the terms, with their address. */
export async function atTerms(world: OAuthWorld) {
  const { browser, form } = await atLogin(world);
  const sent = await browser.submit(form, right);
  assert.equal(sent.status, 303);
  return { browser, address: sent.location, form: formOf(await browser.get(sent.location)) };
}

/** Signs in, accepts, and returns the answer. */
export async function accept(world: OAuthWorld, change: Readonly<Record<string, string>> = {}): Promise<Shown> {
  const browser = world.browser();
  const terms = await browser.signIn(world.authorizeUrl(change), ada);
  return browser.submit(formOf(terms), { decision: "accept" });
}

/** Asserts that accepting the terms redirects to the client with a code. */
export async function assertCodeIssued(browser: ScriptedBrowser, form: Form): Promise<void> {
  const parameters = redirectParameters(await browser.submit(form, { decision: "accept" }), callback);
  assert.ok(parameters.has("code"));
}
