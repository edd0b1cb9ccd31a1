import assert from "node:assert/strict";
import { owner } from "../../../simulator/home-assistant/pages/login-page.ts";

/** What the owner types. */
export const loginForm = { username: owner.name, password: owner.password };

/** Logs in on the page at this address, as a browser does. Returns what the client gets back. */
export async function grantedCode(url: string): Promise<{ readonly code: string; readonly state: string }> {
  const page = await (await fetch(url)).text();
  const hidden = [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
  const body = new URLSearchParams({ ...fields, ...loginForm });
  const answer = await fetch(new URL("/auth/authorize", url), { method: "POST", body, redirect: "manual" });
  assert.equal(answer.status, 302);
  const { searchParams } = new URL(answer.headers.get("location")!);
  return { code: searchParams.get("code")!, state: searchParams.get("state")! };
}
