import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { callback } from "../oauth/oauth-world.ts";
import { formOf, ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { rounds } from "../set-up/extent.ts";
import { brokenBytes, formsOf, mark, requestsFullOfSecrets } from "./canaries.ts";
import { send, sendBytes } from "./wire.ts";

const person = { name: "ada", password: "the words of a person" };

describe("breezeway serve at the most verbose log level", () => {
  it("prints no secret that it received, created or used", { timeout: 120_000 }, async (t) => {
    const { baseUrl, client, ecosystemToken, stop } = await runningCommand(t);
    const secrets: Record<string, string> = { password: person.password, client: client.secret, ecosystemToken };

    const browser = new ScriptedBrowser(() => baseUrl);
    const login = formOf(await browser.get(`/oauth2/authorize?response_type=code&client_id=${client.id}&state=s-1`));
    Object.assign(secrets, login.fields, { firstCookie: [...browser.cookies.values()].join() });
    const signedIn = await browser.submit(login, { username: person.name, password: person.password });
    const terms = formOf(await browser.get(signedIn.location));
    secrets.termsTransaction = terms.fields.transaction!;
    secrets.termsCsrf = terms.fields.csrf!;
    secrets.cookie = [...browser.cookies.values()].join();
    secrets.code = new URL((await browser.submit(terms, { decision: "accept" })).location).searchParams.get("code")!;
    const post = async (path: string, form: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, ...form });
      return (await fetch(`${baseUrl}${path}`, { method: "POST", body })).text();
    };
    const exchange = { grant_type: "authorization_code", code: secrets.code };
    const first = JSON.parse(await post("/oauth2/access_token", exchange));
    const refresh = { grant_type: "refresh_token", refresh_token: first.refresh_token };
    const second = JSON.parse(await post("/oauth2/access_token", refresh));
    secrets.firstAccess = first.access_token;
    secrets.firstRefresh = first.refresh_token;
    secrets.secondAccess = second.access_token;
    secrets.secondRefresh = second.refresh_token;
    const xml = await post("/zdk/services/zamapi/userLogin", { ...person, appId: "1" });
    secrets.secToken = /bws_[\w-]+/.exec(xml)![0];
    const linked = { secToken: secrets.secToken, anEcosystemName: "nest", anAccessToken: ecosystemToken };
    assert.match(await post("/adaptor/federatedtokens", linked), /DeviceId/);
    await fetch(`${baseUrl}/adaptor/federatedtokens?${new URLSearchParams(linked)}`, { method: "DELETE" });
    assert.match(await post("/oauth2/revoke_token", { token: second.access_token }), /OK/);

    const everyNth = rounds({ all: 10, few: 83 });
    for (const request of [...requestsFullOfSecrets()].filter((_, place) => place % everyNth === 0)) {
      await send(baseUrl, request);
    }
    for (const bytes of brokenBytes) await sendBytes(baseUrl, bytes);

    const printed = await stop();
    assert.match(printed, /"level":"info"/);
    assert.match(printed, /breezeway listening on/);
    for (const [name, secret] of Object.entries({ ...secrets, canary: mark })) {
      assert.ok(secret.length > 5, name);
      for (const form of formsOf(secret)) assert.ok(!printed.includes(form), `${name} was printed`);
    }
  });
});

/** The command as a user runs it, with a user, a client and an account to link. */
async function runningCommand(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-talkative-"));
  const simulator = await startSimulator({ port: 0 });
  const environment = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "debug",
    // All requests come from one address: its failures must not delay the next request.
    BREEZEWAY_FAILURES_PER_SOURCE: "1000000",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  await parts.identity.addTenant({ name: "Acme", appId: 1 });
  await parts.identity.addUser({ tenant: "Acme", ...person, isAdmin: false });
  const { client, secret } = await parts.oauth.addClient({
    tenant: "Acme",
    name: "Voice",
    kind: "user",
    redirectUris: [callback],
    requiresPkce: false,
  });
  await parts.close();

  const program = new URL("../../bin/breezeway", import.meta.url).pathname;
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BREEZEWAY_|NODE_TEST_|NODE_OPTIONS)/.test(name));
  const env = { ...Object.fromEntries(inherited), ...environment };
  const child = spawn(process.execPath, [program, "serve"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  test.after(async () => {
    child.kill();
    await ended;
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  let printed = "";
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      printed += `${line}\n`;
      const [, baseUrl] = /^(?:\S+Z )?breezeway listening on (\S+)$/.exec(line) ?? [];
      if (baseUrl) listening.resolve(baseUrl);
    });
  }
  ended.then(() => listening.reject(new Error(`the service did not start:\n${printed}`)));
  return {
    baseUrl: await listening.promise,
    client: { id: client.id, secret },
    ecosystemToken: simulator.addAccount().token,
    /** Ends the command as a user would, and returns all its output. */
    async stop() {
      child.kill("SIGTERM");
      await ended;
      return printed;
    },
  };
}
