import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storedFiles, storedRows } from "../oauth/bar/stored.ts";
import { ada, type OAuthWorld, oauthWorld } from "../oauth/oauth-world.ts";
import { rounds } from "../set-up/extent.ts";
import { eventually, longSuiteOn } from "../stories/world.ts";
import { theOwner } from "./callers.ts";
import { callsOf } from "./calls.ts";
import { brokenBytes, canaries, formsOf, mark, requestsFullOfSecrets } from "./canaries.ts";
import { echoingEcosystem, farewells, refusals } from "./echoing-ecosystem.ts";
import { everyAddress, titleOf } from "./every-address.ts";
import { type Home, owner, ownersHome, secTokenOf } from "./home.ts";
import { placesOf, requestOf } from "./requests.ts";
import { everySecretInUse } from "./secrets-in-use.ts";
import { allOf, send, sendBytes, summaryOf, type WireAnswer, type WireRequest } from "./wire.ts";

const deadline = { timeout: 600_000 };
/** Number of concurrent requests. */
const lanes = 8;

for (const database of longSuiteOn("sqlite")) {
  describe(`a secret, on ${database}`, () => {
    it(
      "sent to any address, by any method, in any place comes back nowhere and is kept nowhere",
      deadline,
      async (t) => {
        const home = await ownersHome(t, database);
        const { world } = home;
        const all = [...requestsFullOfSecrets()];
        // Checks before the store is read are equal on both databases.
        const everyNth = database === "sqlite" ? rounds({ all: 1, few: 21 }) : rounds({ all: 5, few: 70 });
        const requests = all.filter((_, place) => place % everyNth === 0);
        await inLanes(requests, async (request) => assertSilent(await send(world.baseUrl, request), request));
        for (const bytes of brokenBytes) {
          const answer = await sendBytes(world.baseUrl, bytes);
          assert.ok(!allOf(answer).includes(mark), `${bytes.subarray(0, 40)}: ${summaryOf(answer)}`);
        }
        assert.ok(all.length > 4_000);
        for (const { method, path } of everyAddress().filter(({ rule }) => rule === "public")) {
          const request = { method, target: path };
          assertSilent(await send(world.baseUrl, request), request, "afterwards");
        }
        await assertForgotten(world, { "a canary": mark });
      },
    );

    it("in place of any value of a valid request is not leaked", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const rightful = await rightfulRequests(home);
      for (const { request, title } of rightful) {
        const answer = await send(world.baseUrl, request);
        assertSilent(answer, request, title);
      }
      assert.ok(rightful.length > 70);
      await assertForgotten(world, { "a canary": mark });
    });

    it("that is really used appears in no log line and is stored nowhere in plain text", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const secrets = await everySecretInUse(home);
      assert.ok(Object.keys(secrets).length > 20);
      await assertForgotten(home.world, secrets);
    });
  });
}

describe("a token of an ecosystem", () => {
  it("that the ecosystem repeats in all its answers is not leaked", deadline, async (t) => {
    const ecosystem = await echoingEcosystem(t);
    const ecosystems = { nest: { protocol: "nest", apiUrl: ecosystem.url } };
    const world = await oauthWorld(t, { environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) } });
    const secToken = await secTokenOf(world, ada, world.tenantId);
    const federated = { secToken, anEcosystemName: "nest", anAccessToken: canaries.anAccessToken };
    const answers: string[] = [];
    const ask = async (method: string) => {
      const { status, headers, body } = await world.post("/adaptor/federatedtokens", federated, { method });
      answers.push(JSON.stringify([[...headers], body]));
      return status;
    };
    const refuse = async (method: string) => {
      for (const manner of refusals) {
        ecosystem.speak(manner);
        assert.ok([422, 503].includes(await ask(method)), manner);
      }
    };
    await refuse("POST");
    for (const manner of farewells) {
      ecosystem.speak(manner);
      assert.equal(await ask(manner === farewells[0] ? "POST" : "PUT"), 200);
      await eventually(t.signal, async () => {
        const { body } = await world.get(`/adaptor/federatedtokens?anEcosystemName=nest&secToken=${secToken}`);
        answers.push(JSON.stringify(body));
        assert.match(body.reason, manner === "error" ? /sent an error/ : /revoked the token/);
      });
    }
    await refuse("PUT");
    ecosystem.speak("500");
    assert.equal(await ask("DELETE"), 200);
    assert.deepEqual(
      answers.filter((answer) => answer.includes(mark)),
      [],
    );
    await assertForgotten(world, { "the ecosystem's token": mark }, "bob");
  });
});

/** Asserts that an answer repeats nothing of the request, except the cookie, the state and the user name. */
function assertSilent(answer: WireAnswer, { method, target }: WireRequest, title = ""): void {
  const headers = answer.headers.filter(([name, value]) => {
    // The cookie that binds a login page to its browser stays when a second page is opened there.
    if (name.toLowerCase() === "set-cookie") return !value.startsWith(`breezeway=${canaries.cookie};`);
    return true;
  });
  const location = headers.map(([name, value]) => {
    if (name.toLowerCase() !== "location") return [name, value] as const;
    // After signing in, an operator comes back to the page of the console that the browser asked for.
    if (value.startsWith("/console/sign-in?to=")) return [name, ""] as const;
    // The state belongs to the client and is returned to it only.
    const isClients = value.startsWith("http://127.0.0.1:9/callback?");
    return [name, isClients ? value.replace(`state=${canaries.state}`, "") : value] as const;
  });
  // The typed user name is shown again in its field for correction, and only there.
  const text = answer.text.replace(/(name="username"[^>]* value=")[^"]*/, "$1");
  const shown = allOf({ ...answer, headers: location, text });
  const found = [mark, ...formsOf(mark).slice(-3)].filter((form) => shown.includes(form));
  assert.deepEqual(found, [], `${title} ${method} ${target.slice(0, 120)}: ${summaryOf({ ...answer, text })}`);
}

/** Every valid call with one of its parameters replaced by a secret, or with additional secrets. */
async function rightfulRequests(home: Home) {
  const { keys } = await theOwner(home);
  const requests: { readonly title: string; readonly request: WireRequest }[] = [];
  for (const address of everyAddress()) {
    // The last way of each call: values that are written to the first device are rightly stored.
    const call = callsOf(address, home.things()).at(-1)!;
    if (call.endsKey) continue;
    const place = placesOf(address)[0]!;
    const add = (change: Partial<typeof call>, headers: WireRequest["headers"] = []) => {
      const request = requestOf(address, { ...call, ...change }, { ...keys, browser: home.cookie() }, place);
      requests.push({
        title: titleOf(address),
        request: { ...request, headers: [...(request.headers ?? []), ...headers] },
      });
    };
    for (const name of Object.keys(call.parameters ?? {})) {
      if (call.keeps?.includes(name)) continue;
      for (const secret of [canaries.password, canaries.access_token]) {
        add({ parameters: { ...call.parameters, [name]: secret } });
      }
    }
    for (const name of Object.keys(call.path ?? {})) add({ path: { ...call.path, [name]: canaries.password } });
    const isSpent = address.method !== "GET" && address.method !== "HEAD";
    if (call.json === undefined && !isSpent) add({ parameters: { ...canaries, ...call.parameters } });
    if (call.json !== undefined) {
      add({ json: { [canaries.access_token]: "x" } });
      add({ json: { [canaries.access_token]: { [canaries.password]: canaries.code } } });
      add({ json: [canaries.password] });
      add({ json: { "d.structures[1].a.away": canaries.password } });
    }
  }
  return requests;
}

/**
 * Asserts that no log line, no row and no byte of a file contains it, while the service runs and after it has stopped.
 */
async function assertForgotten(
  world: OAuthWorld,
  secrets: Readonly<Record<string, string>>,
  somebody = owner.name,
): Promise<void> {
  assert.ok(world.logged.length > 10);
  const tables = [...(await storedRows(world))].map(([table, rows]) => [table, JSON.stringify(rows)] as const);
  assert.ok(tables.some(([, rows]) => rows.includes(somebody)));
  const running = storedFiles(world);
  await world.service.stop();
  const stopped = storedFiles(world);
  const log = world.logged.join("\n");
  assert.ok(!log.includes('"level":"error"'), "there was an internal error");
  for (const [name, secret] of Object.entries(secrets)) {
    for (const form of formsOf(secret)) {
      assert.ok(!log.includes(form), `${name} is in the log`);
      for (const [table, rows] of tables) assert.ok(!rows.includes(form), `${name} is in the table ${table}`);
      for (const file of [...running, ...stopped]) {
        assert.ok(!file.bytes.includes(form), `${name} is in the file ${file.name}`);
      }
    }
  }
}

async function inLanes<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
