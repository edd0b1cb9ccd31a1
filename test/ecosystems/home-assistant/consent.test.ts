import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import type { Resolve } from "../../../src/runtime/network/public-address.ts";
import { folderOf } from "../../cli/made-folder.ts";
import { hasOpenssl, makeCertificate } from "../../set-up/certificate.ts";
import { grantedCode, loginForm } from "./login.ts";

const redirectUri = "https://breezeway.example/link/callback";
const request = { redirectUri, state: "st4te", codeChallenge: "challenge" };

describe("the consent of a Home Assistant's owner", () => {
  it("leads over the instance's login page to a credential that can be used, renewed and revoked", async (t) => {
    const { simulator, connector, consent } = await started(t);
    const start = await consent.begin({ ...request, address: `${simulator.url}/` }, unending());
    assert.ok("url" in start, JSON.stringify(start));
    assert.equal(start.address, simulator.url);
    const { code, state } = await grantedCode(start.url);
    assert.equal(state, "st4te");
    const answer = { code, redirectUri, codeVerifier: "verifier", address: simulator.url };
    const outcome = await consent.exchange(answer, unending());
    assert.ok(outcome.state === "granted", JSON.stringify(outcome));
    const { credential } = outcome;
    assert.deepEqual(
      [credential.address, credential.clientId, credential.expiresMs],
      [simulator.url, "https://breezeway.example/", 1_801_000],
    );
    await connector.read(connector.callTokenOf!(credential), unending());
    const renewed = await connector.renew!(credential, unending());
    assert.ok(renewed.state === "renewed" && renewed.credential.accessToken !== credential.accessToken);

    assert.equal((await consent.exchange(answer, unending())).state, "refused", "a code is redeemed once");
    const access = connector.callTokenOf!(credential);
    assert.equal(await connector.revoke(access, unending(), credential), true);
    await assert.rejects(connector.read(access, unending()), { name: "EcosystemRefused" });
    assert.equal((await connector.renew!(credential, unending())).state, "refused");
    const { refreshToken: _, ...longLived } = credential;
    assert.equal(await connector.revoke(access, unending(), longLived), false);
  });

  it("presents no token while it checks an address", async (t) => {
    const { simulator, consent } = await started(t);
    await consent.begin({ ...request, address: simulator.url }, unending());
    assert.deepEqual([simulator.tokens.attempts, simulator.tokens.failures], [0, 0]);
  });

  it("says what is wrong with an address", async (t) => {
    const { simulator, consent } = await started(t);
    const strict = homeAssistantConnector({ name: "home", allowPrivateNetworks: false, resolve: privately }).consent!;
    const problemOf = async (with_: typeof consent, address?: string) => {
      const start = await with_.begin({ ...request, ...(address !== undefined && { address }) }, unending());
      return "problem" in start ? start.problem : start.url;
    };
    for (const address of [undefined, "", "   ", "ftp://home.example", "https://a:b@home.example", "https://h?q=1"]) {
      assert.equal(await problemOf(consent, address), "malformed", String(address));
    }
    assert.equal(await problemOf(consent, "http://127.0.0.1:1"), "unreachable");
    // Private networks and http are forbidden; a name that leads there looks like one that does not exist.
    assert.equal(await problemOf(strict, simulator.url), "forbidden");
    assert.equal(await problemOf(strict, `https://127.0.0.1:${simulator.port}`), "forbidden");
    assert.equal(await problemOf(strict, `https://[::1]:${simulator.port}`), "forbidden");
    assert.equal(await problemOf(strict, `home.example:${simulator.port}`), "unreachable");
    simulator.faults.refusal = 302;
    assert.equal(await problemOf(consent, simulator.url), "unreachable");
  });

  it("says what to do about an address that can't be reached", async (t) => {
    const { consent } = await started(t);
    const nowhere: Resolve = async () => [];
    const options = { name: "home", resolve: nowhere } as const;
    const strict = homeAssistantConnector({ ...options, allowPrivateNetworks: false }).consent!;
    const unresolving = homeAssistantConnector({ ...options, allowPrivateNetworks: true }).consent!;
    const adviceOn = async (of: typeof consent, address: string) => {
      const start = await of.begin({ ...request, address }, unending());
      return "problem" in start ? start.detail : start.url;
    };
    const local =
      /works only inside your home network, and we connect over the internet\. Enter the address that opens/;
    const locals = ["http://homeassistant.local:8123", "homeassistant.local:8123", "http://192.168.1.20:8123", "ha"];
    for (const address of [...locals, "https://[fd00::1]", "http://hass.fritz.lan", "https://localhost"]) {
      assert.match(await adviceOn(strict, address), local, address);
    }
    assert.match(await adviceOn(unresolving, "http://homeassistant.local:8123"), local);
    assert.match(await adviceOn(strict, "http://home.example"), /must be an https address/);
    for (const used of [strict, unresolving]) {
      assert.match(await adviceOn(used, "https://hoem.example"), /leads to no address that we can reach.*written/);
    }
    const http = createServer((_request, response) => void response.writeHead(404).end()).listen(0, "127.0.0.1");
    t.after(() => http.close());
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    assert.match(await adviceOn(consent, `http://127.0.0.1:${port}/lovelace`), /but no Home Assistant.*leave out/);
    assert.match(await adviceOn(consent, `https://127.0.0.1:${port}`), /does not speak https\. Check the port/);
    assert.match(await adviceOn(consent, "https://127.0.0.1:1"), /Nothing accepts connections.*check the port/);
  });

  it("says that a certificate is not trusted", { skip: !hasOpenssl && "no openssl" }, async (t) => {
    const { consent } = await started(t);
    const { cert, keyFile } = makeCertificate(folderOf(t));
    const https = createSecureServer({ cert, key: readFileSync(keyFile) }).listen(0, "127.0.0.1");
    t.after(() => https.close());
    await once(https, "listening");
    const { port } = https.address() as AddressInfo;
    const start = await consent.begin({ ...request, address: `https://127.0.0.1:${port}` }, unending());
    assert.match("detail" in start ? start.detail : "", /certificate of this address is not trusted.*Renew it/);
  });

  it("is refused by the instance for a callback of another host, and for a wrong password", async (t) => {
    const { simulator } = await started(t);
    const query = "client_id=https://breezeway.example/&redirect_uri=https://attacker.example/&state=1";
    assert.equal((await fetch(`${simulator.url}/auth/authorize?${query}`)).status, 400);
    const wrong = {
      ...loginForm,
      password: "wrong",
      client_id: "https://b.example/",
      redirect_uri: "https://b.example/x",
    };
    const body = new URLSearchParams(wrong);
    const answer = await fetch(`${simulator.url}/auth/authorize`, { method: "POST", body, redirect: "manual" });
    assert.match(await answer.text(), /Invalid username or password/);
  });

  it("ends without a credential when the instance does not answer", async (t) => {
    const { consent } = await started(t);
    const unreachable = { code: "code", redirectUri, codeVerifier: "v", address: "http://127.0.0.1:1" };
    assert.equal((await consent.exchange(unreachable, unending())).state, "unanswered");
  });
});

const privately: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];

async function started(t: TestContext) {
  const simulator = await startHomeAssistant();
  t.after(() => simulator.stop());
  const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true, nowMs: () => 1_000 });
  return { simulator, connector, consent: connector.consent! };
}

function unending(): AbortSignal {
  return new AbortController().signal;
}
