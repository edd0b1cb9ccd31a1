import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { formOf } from "../oauth/scripted-browser.ts";
import { type Home, owner } from "./home.ts";

/** Uses every secret, rightly and wrongly, and returns all of them by name. */
export async function everySecretInUse(home: Home): Promise<Readonly<Record<string, string>>> {
  const { world } = home;
  const { identity, oauth } = world.service.parts;
  const verifier = `verifier-${"v".repeat(50)}`;
  const challenge = createHash("sha256").update(verifier).digest("base64url");

  const browser = world.browser();
  const address = world.authorizeUrl({ code_challenge: challenge, code_challenge_method: "S256" });
  const login = formOf(await browser.get(address));
  const firstCookie = [...browser.cookies.values()].join();
  const wrongPassword = "quite another password";
  await browser.submit(login, { username: owner.name, password: wrongPassword });
  // A password in the wrong field, a common mistake.
  await browser.submit(login, { username: "typed into the wrong field", password: "x" });
  const signedIn = await browser.submit(login, { username: owner.name, password: owner.password });
  const terms = formOf(await browser.get(signedIn.location));
  const decided = await browser.submit(terms, { decision: "accept" });
  const code = new URL(decided.location).searchParams.get("code")!;
  const wrongSecret = "bwcs_not-the-secret-of-this-client-at-all";
  await world.exchange(code, { ...world.client, secret: wrongSecret });
  const first = (await world.exchange(code, world.client, { code_verifier: verifier })).body;
  const second = (await world.refresh(first.refresh_token)).body;
  const third = (await world.refresh(second.refresh_token)).body;
  await world.get("/v3/devices", third.access_token);
  await world.revoke(third.access_token);
  await world.get("/v3/devices", third.access_token);
  const replayed = await world.code({}, owner);
  const lost = (await world.exchange(replayed)).body;
  await world.exchange(replayed);

  const secToken = await home.secToken();
  const account = home.things().ecosystemToken;
  const another = home.things().ecosystemToken;
  const link = (method: string, anAccessToken: string) =>
    world.post("/adaptor/federatedtokens", { secToken, anEcosystemName: "nest", anAccessToken }, { method });
  assert.equal((await link("PUT", account)).status, 200);
  assert.equal((await link("PUT", another)).status, 200);
  const refused = "c.refused-by-the-ecosystem";
  assert.equal((await link("PUT", refused)).status, 422);
  const loggedOut = await home.secToken();
  await world.get(`/zdk/services/zamapi/userLogout?secToken=${loggedOut}`);
  await world.get(`/zdk/services/zamapi/userLogout?secToken=${loggedOut}`);

  const { access_token: bearer } = await world.tokens(world.client, owner);
  const added = await fetch(`${world.baseUrl}/v3/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify({ url: "http://127.0.0.1:9/", attributes: ["glow-of-Ottoline"] }),
  });
  const { webhookId, secret: webhookSecret } = (await added.json()) as Record<"webhookId" | "secret", string>;
  assert.match(webhookSecret, /^whsec_/);
  await world.get(`/v3/webhooks/${webhookId}/deliveries`, bearer);

  const rotated = await oauth.rotateSecret(world.client.id, 60_000);
  const newPassword = "the owner's next words";
  const still = await home.secToken();
  await identity.setPassword(home.userId, newPassword);
  assert.ok(first.access_token && third.refresh_token && lost.refresh_token);
  return {
    "the password": owner.password,
    "the new password": newPassword,
    "the wrong password": wrongPassword,
    "the password in the field of the name": "typed into the wrong field",
    "the verifier": verifier,
    "the login page's transaction": login.fields.transaction!,
    "the login page's csrf": login.fields.csrf!,
    "the first cookie": firstCookie,
    "the second cookie": [...browser.cookies.values()].join(),
    "the terms' transaction": terms.fields.transaction!,
    "the terms' csrf": terms.fields.csrf!,
    "the code": code,
    "the replayed code": replayed,
    ...Object.fromEntries(
      [first, second, third, lost].flatMap(({ access_token, refresh_token }, n) => [
        [`access token ${n}`, access_token as string],
        [`refresh token ${n}`, refresh_token as string],
      ]),
    ),
    "the client's secret": world.client.secret,
    "the client's next secret": rotated.secret,
    "the wrong secret": wrongSecret,
    "the secToken": secToken,
    "the secToken that was logged out": loggedOut,
    "the secToken that a new password ended": still,
    "the webhook's secret": webhookSecret,
    "the webhook's key": webhookSecret.slice("whsec_".length),
    "the ecosystem's token": account,
    "the ecosystem's next token": another,
    "the token that the ecosystem refused": refused,
  };
}
