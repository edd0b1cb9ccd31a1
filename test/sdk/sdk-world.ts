import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Breezeway, OAuthClient, TokenKeeper, type TokenStore, type Tokens } from "../../sdk/src/index.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { callback } from "../stories/v3-client.ts";
import { eventually, person, type WorldPlan, world } from "../stories/world.ts";

/** A token store in memory. */
export class RememberedTokens implements TokenStore {
  tokens: Tokens | undefined;
  saved = 0;

  load(): Tokens | undefined {
    return this.tokens;
  }

  save(tokens: Tokens): void {
    this.tokens = tokens;
    this.saved += 1;
  }
}

/** The real service, the simulator, and a user with the SDK: by secToken, and by OAuth tokens. */
export async function sdkWorld(test: TestContext, plan: WorldPlan = {}) {
  const story = await world(test, { structures: [{ name: "Mill", thermostats: 3, alarms: 1 }], ...plan });
  const { baseUrl, parts } = story.service;
  const { tenantId } = await parts.identity.findTenant("Story");
  const login = { ...person, appId: tenantId };
  const bySecToken = new Breezeway({ baseUrl });
  await bySecToken.login(login);
  const registered = await parts.oauth.addClient({
    ...{ tenant: "Story", name: "SDK", kind: "user", redirectUris: [callback], requiresPkce: true },
  });
  const credentials = { clientId: registered.client.id, clientSecret: registered.secret, redirectUri: callback };
  const oauth = new OAuthClient({ baseUrl, ...credentials });
  const store = new RememberedTokens();
  const authorization = await oauth.begin();
  const returned = await new ScriptedBrowser(() => baseUrl).authorize(authorization.url, person);
  store.tokens = await oauth.finish(returned, authorization);
  const keeper = new TokenKeeper(oauth, store);
  return {
    simulator: story.simulator,
    accountId: story.accountId,
    accountToken: story.accountToken,
    story,
    baseUrl,
    login,
    oauth,
    credentials,
    store,
    keeper,
    bySecToken,
    byAccessToken: new Breezeway({ baseUrl, accessToken: keeper }),
    /** Links the account by the SDK and waits until its stream is live. */
    async linked(): Promise<number> {
      const { deviceId } = await bySecToken.updateFederatedToken("nest", story.accountToken);
      await eventually(test.signal, async () => {
        assert.equal((await bySecToken.getLinkStatus("nest")).state, "live");
      });
      return deviceId;
    },
    async addLamp(name = "Lamp"): Promise<number> {
      const device = { user: String(story.userId), name, type: "Lamp" };
      const address = { baseUrl };
      return ((await parts.administration.run("device add", device, { service: address })) as { deviceId: number })
        .deviceId;
    },
  };
}

export type SdkWorld = Awaited<ReturnType<typeof sdkWorld>>;

/** A fake fetch: answers each call in turn, and records the requests. */
export function scripted(...answers: (Response | Error | "never")[]) {
  const requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly body: string;
  }[] = [];
  const waiting = [...answers];
  const answering = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    requests.push({
      method: init.method ?? "GET",
      url: String(url),
      headers: new Headers(init.headers),
      body: String(init.body ?? ""),
    });
    const answer = waiting.shift() ?? new Error("this call was not scripted");
    if (answer === "never") {
      return new Promise((_, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
      });
    }
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { fetch: answering as typeof fetch, requests };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

export function fault(errorCode: number, errorMsg: string, headers: Record<string, string> = {}): Response {
  const content = `<errorCode>${errorCode}</errorCode><errorMsg>${errorMsg}</errorMsg>`;
  const xml = `<ns1:requestFault xmlns:ns1="http://arrayent.com/zamapi/">${content}</ns1:requestFault>`;
  return new Response(xml, { status: 500, headers });
}

/** The error with which a call fails. */
export function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => assert.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
}
