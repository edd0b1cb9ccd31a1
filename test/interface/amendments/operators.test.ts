import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { send } from "../../events/made-home.ts";
import { ScriptedBrowser } from "../../oauth/scripted-browser.ts";
import { operatorWorld, password } from "../../operators/operator-world.ts";
import { hs256, newKeys, rs256, startSigningProvider } from "../../operators/signing-provider.ts";

describe("settled: webhook addresses for operators without the right to secrets", () => {
  it("show origin and path, never the query", async (t) => {
    const { run, owner, service, invited } = await operatorWorld(t);
    const ada = await owner();
    await run("user add", { tenant: "Acme", name: "bob", password });
    const redirect = { "redirect-uri": ["http://127.0.0.1:9/callback"] };
    const client = await run("client add", { tenant: "Acme", name: "Voice", ...redirect });
    const token = await accessToken(service.baseUrl, client, { name: "bob", password });
    const [address, query] = ["http://127.0.0.1:9/hook", "key=a-secret-of-the-receiver"];
    const made = await send(`${service.baseUrl}/v3/webhooks`, token, "POST", { url: `${address}?${query}` });
    const { webhookId } = made.body;

    const viewer = await invited("vera", { role: "viewer", tenant: ["Acme"] });
    for (const path of ["/webhooks", `/webhooks/${webhookId}`]) {
      const seen = await viewer.call("GET", path);
      assert.equal(seen.status, 200);
      assert.ok(JSON.stringify(seen.body).includes(`"${address}"`));
      assert.ok(!JSON.stringify(seen.body).includes(query));
      assert.ok(JSON.stringify((await ada.call("GET", path)).body).includes(query), "an owner has the right");
    }
    const page = await (await viewer.get("/console/webhooks")).text();
    assert.ok(page.includes(address) && !page.includes(query));
  });
});

describe("settled: operators' tokens", () => {
  it("make no tokens that outlive them, and a token's child ends with it", async (t) => {
    const { owner, callWith } = await operatorWorld(t);
    const ada = await owner();
    const make = (input: object) => ada.call("POST", "/operators/ada/tokens", input);
    const parent = (await make({ name: "deploy", days: 3 })).body;
    const makeWith = (input: object) => callWith(parent.token, "POST", "/operators/ada/tokens", input);
    assert.equal((await makeWith({ name: "too long", days: 4 })).status, 400);
    const { status, body: child } = await makeWith({ name: "child" });
    assert.ok(status < 300);
    assert.ok(child.expires <= parent.expires);
    assert.equal((await callWith(child.token, "GET", "/tenants")).status, 200);
    assert.ok((await ada.ask("DELETE", `/operator-tokens/${parent.tokenId}`)).status < 300);
    for (const { token } of [parent, child]) assert.equal((await callWith(token, "GET", "/tenants")).status, 401);
  });
});

describe("settled: names", () => {
  const [joiner, nonJoiner] = ["\u200D", "\u200C"];

  it("refuse invisible and direction characters, and take joiners between letters that need them", async (t) => {
    const { owner } = await operatorWorld(t);
    const ada = await owner();
    const add = (name: string) => ada.call("POST", "/tenants", { name });
    for (const hidden of ["\u202E", "\u200B", "\u2066", "\uFEFF", "\u00AD", joiner, nonJoiner]) {
      const { status, body } = await add(`Ac${hidden}me`);
      assert.deepEqual([status, body.error], [400, "invalid_request"], JSON.stringify(hidden));
      assert.match(body.error_description, /U\+[0-9A-F]{4}/);
    }
    // Persian needs the non-joiner, and Hindi the joiner.
    for (const name of [`می${nonJoiner}خواهم`, `क्${joiner}ष`]) assert.ok((await add(name)).status < 300, name);
  });
});

describe("settled: ID tokens", () => {
  it("are accepted only with a signature by a key of the provider", async (t) => {
    const { issuer, keys, issue } = await startSigningProvider(t);
    const settings = { oidcIssuer: issuer, oidcClientId: "console", oidcClientSecret: "a secret of the console" };
    const oidcRoles = [{ claim: "sub", value: "olga", role: "owner", tenants: [] }] as const;
    const { newBrowser, owner } = await operatorWorld(t, undefined, { ...settings, oidcRoles });
    await owner();
    const signIn = async (signing: ReturnType<typeof rs256>) => {
      const browser = newBrowser();
      const begun = await browser.get("/console/openid?to=/console");
      const { searchParams } = new URL(begun.headers.get("location")!);
      issue({ sub: "olga", aud: settings.oidcClientId, nonce: searchParams.get("nonce") }, signing);
      const query = new URLSearchParams({ code: "code", state: searchParams.get("state")! });
      const { status } = await browser.get(`/console/openid/callback?${query}`);
      return { status, isSignedIn: (await browser.ask("GET", "/tenants")).status === 200 };
    };
    assert.deepEqual(await signIn(rs256("one", keys.privateKey)), { status: 200, isSignedIn: true });
    const none = { header: { alg: "none" }, sign: () => "" };
    for (const signing of [rs256("one", newKeys().privateKey), hs256(settings.oidcClientSecret), none]) {
      assert.deepEqual(await signIn(signing), { status: 403, isSignedIn: false });
    }
  });
});

async function accessToken(
  baseUrl: string,
  { client_id, client_secret }: { readonly client_id: string; readonly client_secret: string },
  who: { readonly name: string; readonly password: string },
): Promise<string> {
  const query = new URLSearchParams({ response_type: "code", client_id, state: "s" });
  const returned = await new ScriptedBrowser(() => baseUrl).authorize(`${baseUrl}/oauth2/authorize?${query}`, who);
  const code = returned.searchParams.get("code") ?? "";
  const body = new URLSearchParams({ grant_type: "authorization_code", code, client_id, client_secret });
  const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body });
  return ((await answer.json()) as { readonly access_token: string }).access_token;
}
