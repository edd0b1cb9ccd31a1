import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { EventSource } from "eventsource";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

// npm packages that were written for the real ecosystem, in plain JavaScript.
const load = createRequire(import.meta.url);
const passport: AnyJson = load("passport");
const { Strategy: NestStrategy }: AnyJson = load("passport-nest");

describe("passport-nest", () => {
  it("completes the consent flow and gets an access token for the home", async (t) => {
    const { call, visit, comeBack, session } = await passportWorld(t);
    const location = await answerConsent(await visit(), "allow");
    const user = await comeBack(location);
    assert.match(user.accessToken, /^c\./);
    const { body } = await call("GET", "/structures", undefined, user.accessToken);
    assert.equal(first(body).name, "Maple Street");
    assert.deepEqual(session, {}, "the state was used up");
  });

  it("reports a refusal as its own error", async (t) => {
    const { visit, comeBack } = await passportWorld(t);
    const location = await answerConsent(await visit(), "deny");
    await assert.rejects(comeBack(location), /access_denied|the owner refused access|Unauthorized|failure/);
  });

  it("reports a code that was used before", async (t) => {
    const { visit, comeBack, session } = await passportWorld(t);
    const location = await answerConsent(await visit(), "allow");
    const kept = structuredClone(session);
    await comeBack(location);
    Object.assign(session, kept);
    await assert.rejects(comeBack(location), (error: AnyJson) =>
      JSON.stringify([error.message, error.oauthError?.data]).includes("authorization code not found"),
    );
  });
});

describe("the eventsource package", () => {
  it("follows put, a change, and the end of the token", async (t) => {
    const { simulator, account, source, next } = await sourceWorld(t);
    assert.deepEqual((await next()).data, await account.get("/").then(({ body }) => ({ path: "/", data: body })));
    await account.scene("smoke");
    assert.equal(first((await next()).data.data.structures).smoke_alarm_state, "emergency");
    simulator.revokeToken(account.token);
    assert.deepEqual(await next(), { type: "auth_revoked", data: account.token });
    source.close();
  });

  it("follows the 307 to the second host when its caller adds Authorization there again", async (t) => {
    const { simulator, account, requestedUrls, next } = await sourceWorld(t, {
      redirect: "second-host",
      openEvent: true,
    });
    assert.deepEqual(await next(), { type: "open", data: null });
    assert.equal((await next()).type, "put");
    assert.deepEqual(requestedUrls, [`${simulator.url}/`, `${simulator.secondUrl}/`]);
    await account.scene("leave");
    assert.equal(first((await next()).data.data.structures).away, "away");
  });

  it("is refused by the second host without it", async (t) => {
    const { simulator, account } = await sourceWorld(t, { redirect: "second-host" });
    const refused = await new Promise<AnyJson>((resolve) => {
      const source = new EventSource(simulator.url, {
        fetch: (input, init) =>
          fetch(input, {
            ...init,
            headers: { ...init?.headers, Authorization: `Bearer ${account.token}` },
          } as RequestInit),
      });
      source.addEventListener("error", (error) => {
        source.close();
        resolve(error);
      });
    });
    assert.equal(refused.code, 401);
  });

  it("reconnects automatically after a drop, and gets a new snapshot", async (t) => {
    const { simulator, account, next, requestedUrls } = await sourceWorld(t);
    await next();
    // Streams have no retry field, and the package's default is three seconds: this put sets it to a millisecond.
    simulator.addFault({ fault: "malformed", kind: "id-and-retry", times: 1 });
    await account.scene("leave");
    await next();
    simulator.drop(account.accountId);
    assert.equal(first((await next()).data.data.structures).away, "away");
    assert.equal(requestedUrls.length, 2);
  });

  it("parses each unusual form of a put, and misses none after a broken one", async (t) => {
    const { account, next } = await sourceWorld(t);
    await next();
    for (const kind of ["cr-lf", "multi-line", "split-utf8", "nul", "bad-json"]) {
      await account.fault("malformed", { kind, times: 1 });
      await account.scene("leave");
      await account.scene("come-home");
      const [odd, good] = [await next(), await next()];
      const isBroken = kind === "nul" || kind === "bad-json";
      assert.equal(typeof odd.data === "string", isBroken, kind);
      if (!isBroken) assert.equal(first(odd.data.data.structures).away, "away", kind);
      assert.equal(first(good.data.data.structures).away, "home", kind);
    }
  });
});

async function passportWorld(test: TestContext) {
  const world = await simulatorWorld(test);
  world.simulator.addAccount({ structures: [{ name: "Maple Street" }] });
  const { url } = world.simulator;
  const callbackURL = "https://lantern.example/auth/nest/callback";
  const client = world.simulator.registerClient({ name: "Lantern", redirectUri: callbackURL });
  const strategy = new NestStrategy({
    clientID: client.clientId,
    clientSecret: client.clientSecret,
    authorizationURL: `${url}/login/oauth2`,
    tokenURL: `${url}/oauth2/access_token`,
    callbackURL,
  });
  const authenticator = new passport.Passport();
  authenticator.use(strategy);
  const session: AnyJson = {};

  /** What an Express application does on its two routes: returns the redirect's address, or the user. */
  const authenticate = (query: AnyJson) =>
    new Promise<AnyJson>((resolve, reject) => {
      const request = { session, query, headers: {}, url: "/", connection: {} };
      const response = {
        statusCode: 200,
        headers: {} as Record<string, string>,
        setHeader(name: string, value: string) {
          this.headers[name] = value;
        },
        end() {
          resolve(this.headers.Location);
        },
      };
      const done = (error: unknown, user: unknown, info: AnyJson) => {
        if (error) reject(error);
        else if (user) resolve(user);
        else reject(new Error(`failure: ${info?.message}`));
      };
      authenticator.authenticate("nest", done)(request, response, reject);
    });
  return {
    ...world,
    session,
    visit: (): Promise<string> => authenticate({}),
    comeBack: (location: string): Promise<AnyJson> => authenticate(Object.fromEntries(new URL(location).searchParams)),
  };
}

/** A user with a browser: opens the page and submits its form. */
async function answerConsent(address: string, decision: "allow" | "deny"): Promise<string> {
  const page = await (await fetch(address)).text();
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  const body = new URLSearchParams(fields.map(([, name, value]) => [name!, plainText(value!)] as [string, string]));
  body.set("decision", decision);
  const action = new URL(/<form[^>]* action="([^"]*)"/.exec(page)![1]!, address);
  const response = await fetch(action, { method: "POST", body, redirect: "manual" });
  assert.equal(response.status, 302);
  return response.headers.get("location")!;
}

function plainText(text: string): string {
  const signs: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => signs[name]!);
}

async function sourceWorld(test: TestContext, options: SimulatorOptions = {}) {
  const world = await simulatorWorld(test, options);
  const account = await world.account();
  return { ...world, account, ...(await openSource(test, world.simulator.url, account.token)) };
}

/** The package with a `fetch` that follows redirects itself, as clients of the ecosystem must. */
async function openSource(test: TestContext, url: string, token: string) {
  const requestedUrls: string[] = [];
  const source = new EventSource(url, {
    fetch: async (input, init) => {
      let address = String(input);
      for (;;) {
        requestedUrls.push(address);
        const headers = { ...init?.headers, Authorization: `Bearer ${token}` };
        const response = await fetch(address, { ...init, headers, redirect: "manual" } as RequestInit);
        if (response.status !== 307) return response;
        address = response.headers.get("location")!;
      }
    },
  });
  test.after(() => source.close());
  const events: AnyJson[] = [];
  const waiting: ((event: AnyJson) => void)[] = [];
  for (const type of ["open", "put", "auth_revoked", "cancel"]) {
    source.addEventListener(type, (event) => {
      if (!("data" in event)) return;
      const taken = { type, data: parse(String(event.data)) };
      const reader = waiting.shift();
      if (reader) reader(taken);
      else events.push(taken);
    });
  }
  const next = () => {
    const event = events.shift();
    return event === undefined ? new Promise<AnyJson>((resolve) => waiting.push(resolve)) : Promise.resolve(event);
  };
  return { source, next, requestedUrls };
}

function parse(text: string): AnyJson {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
