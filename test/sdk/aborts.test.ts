import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway, EcosystemClient, OAuthClient, TokenKeeper } from "../../sdk/src/index.ts";
import { json, scripted } from "./sdk-world.ts";

const baseUrl = "http://home.example";
const never = () => scripted("never", "never", "never", "never");

/** Every call that waits for an answer, by a client with both kinds of tokens. */
const calls: Readonly<Record<string, (context: { fetch: typeof fetch; signal: AbortSignal }) => Promise<unknown>>> = {
  login: ({ fetch, signal }) =>
    new Breezeway({ baseUrl, fetch }).login({ name: "a", password: "b", appId: 1 }, { signal }),
  ...Object.fromEntries(
    Object.entries<(client: Breezeway, signal: AbortSignal) => Promise<unknown>>({
      logout: (client, signal) => client.logout({ signal }),
      updateFederatedToken: (client, signal) => client.updateFederatedToken("nest", "t", { signal }),
      "updateFederatedToken with callbacks": (client, signal) =>
        new Promise((resolve, reject) => client.updateFederatedToken("nest", "t", resolve, reject, { signal })),
      getLinkStatus: (client, signal) => client.getLinkStatus("nest", { signal }),
      unlink: (client, signal) => client.unlink("nest", { signal }),
      getLargeStrings: (client, signal) => client.getLargeStrings(1, { signal }),
      getHomeNames: (client, signal) => client.getHomeNames(1, { signal }),
      addTrigger: (client, signal) =>
        client.addTrigger({ deviceId: 1, attrName: "a", operation: "equals" }, { signal }),
      getTriggers: (client, signal) => client.getTriggers({ signal }),
      setTriggerEnabled: (client, signal) => client.setTriggerEnabled(1, true, { signal }),
      removeTrigger: (client, signal) => client.removeTrigger(1, { signal }),
    }).map(([name, call]) => [
      name,
      ({ fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal }) =>
        call(new Breezeway({ baseUrl, secToken: "s", fetch }), signal),
    ]),
  ),
  ...Object.fromEntries(
    (["s", undefined] as const).flatMap((secToken) =>
      Object.entries<(client: Breezeway, signal: AbortSignal) => Promise<unknown>>({
        getDevices: (client, signal) => client.getDevices({ signal }),
        getDevice: (client, signal) => client.getDevice(1, { signal }),
        setDeviceAttribute: (client, signal) => client.setDeviceAttribute(1, "a", "b", { signal }),
        runFan: (client, signal) => client.runFan(1, "d.structures[1].d.thermostats[1]", { signal }),
        ...(secToken === undefined && {
          setDeviceAttributes: (client, signal) => client.setDeviceAttributes(1, { a: "b" }, { signal }),
          getCommands: (client, signal) => client.getCommands(1, { signal }),
          getHistory: (client, signal) => client.getHistory(1, { signal }).next(),
          thingHistory: (client, signal) => client.thingHistory("t_1", { signal }).next(),
          getUsers: (client, signal) => client.getUsers({ signal }),
          getUser: (client, signal) => client.getUser(1, { signal }),
          "alerts.list": (client, signal) => client.alerts.list({ signal }),
          "alerts.create": (client, signal) =>
            client.alerts.create({ deviceId: 1, attrName: "a", operation: "equals", action: "email" }, { signal }),
          "alerts.get": (client, signal) => client.alerts.get(1, { signal }),
          "alerts.change": (client, signal) =>
            client.alerts.change(1, { deviceId: 1, attrName: "a", operation: "equals", action: "email" }, { signal }),
          "alerts.remove": (client, signal) => client.alerts.remove(1, { signal }),
          "alerts.explain": (client, signal) => client.alerts.explain(1, { signal }),
          "alerts.dryRun": (client, signal) =>
            client.alerts.dryRun({ deviceId: 1, attrName: "a", operation: "equals", action: "email" }, { signal }),
          "webhooks.add": (client, signal) => client.webhooks.add({ url: "https://a.example" }, { signal }),
          "webhooks.list": (client, signal) => client.webhooks.list({ signal }),
          "webhooks.deliveries": (client, signal) => client.webhooks.deliveries("w", { signal }),
          "webhooks.resend": (client, signal) => client.webhooks.resend("w", 1, { signal }),
          "webhooks.remove": (client, signal) => client.webhooks.remove("w", { signal }),
        }),
      }).map(([name, call]) => [
        `${name} by ${secToken ? "a secToken" : "an access token"}`,
        ({ fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal }) =>
          call(new Breezeway({ baseUrl, ...(secToken ? { secToken } : { accessToken: "t" }), fetch }), signal),
      ]),
    ),
  ),
  ...Object.fromEntries(
    Object.entries<(client: OAuthClient, signal: AbortSignal) => Promise<unknown>>({
      "oauth.finish": (client, signal) =>
        client.finish("http://a.example/?code=c&state=s", { state: "s", codeVerifier: "v" }, { signal }),
      "oauth.exchange": (client, signal) => client.exchange("c", "v", { signal }),
      "oauth.refresh": (client, signal) => client.refresh("r", { signal }),
      "oauth.asItself": (client, signal) => client.asItself({ signal }),
      "oauth.revoke": (client, signal) => client.revoke("t", { signal }),
    }).map(([name, call]) => [
      name,
      ({ fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal }) =>
        call(new OAuthClient({ baseUrl, clientId: "c", clientSecret: "s", fetch }), signal),
    ]),
  ),
  "ecosystem.finish": ({ fetch, signal }) =>
    new EcosystemClient({ authUrl: baseUrl, tokenUrl: baseUrl, clientId: "c", fetch }).finish(
      "http://a.example/?code=c&state=s",
      "s",
      { signal },
    ),
};

describe("an abort", () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`ends ${name}, before and while it waits, with the signal's own reason`, async () => {
      const reason = new Error("changed my mind");
      const early = never();
      await assert.rejects(call({ fetch: early.fetch, signal: AbortSignal.abort(reason) }), reason);
      assert.deepEqual(early.requests, []);
      const late = never();
      const controller = new AbortController();
      const running = call({ fetch: late.fetch, signal: controller.signal });
      while (late.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(reason);
      await assert.rejects(running, reason);
    });
  }

  it("ends the pause before a retry", async () => {
    const { fetch, requests } = scripted(json(503, { error: "store_unavailable" }, { "retry-after": "9" }));
    const controller = new AbortController();
    const running = new Breezeway({ baseUrl, accessToken: "t", fetch }).getDevices({ signal: controller.signal });
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await assert.rejects(running, { name: "AbortError" });
  });

  it("ends one caller's wait for a refresh, but not the refresh", async () => {
    const answered = Promise.withResolvers<Response>();
    const oauth = new OAuthClient({ baseUrl, clientId: "c", clientSecret: "s", fetch: () => answered.promise });
    const kept: unknown[] = [];
    const expired = { accessToken: "old", refreshToken: "r", expiresAtMs: 0 };
    const keeper = new TokenKeeper(oauth, { load: () => expired, save: (tokens) => void kept.push(tokens) });
    const controller = new AbortController();
    const [impatient, patient] = [keeper.current(controller.signal), keeper.current()];
    impatient.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    // A caller that comes while the refresh is running already.
    const late = keeper.current(controller.signal);
    late.catch(() => undefined);
    controller.abort();
    await assert.rejects(impatient, { name: "AbortError" });
    await assert.rejects(late, { name: "AbortError" });
    answered.resolve(json(200, { access_token: "new", refresh_token: "r2", expires_in: 3600 }));
    assert.equal(await patient, "new");
    assert.equal(kept.length, 1);
  });
});
