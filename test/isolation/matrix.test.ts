import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAll, rounds } from "../set-up/extent.ts";
import { sampleOf } from "../set-up/sample.ts";
import { databases } from "../stories/world.ts";
import { type Caller, expiredCaller, keysFor, type Standing, theOwner } from "./callers.ts";
import { type Call, callsOf } from "./calls.ts";
import { type Address, everyAddress, everyPath, registeredWhile, titleOf } from "./every-address.ts";
import { everybodyElse } from "./everybody-else.ts";
import { type Home, ownersHome } from "./home.ts";
import { differences } from "./lasting-rows.ts";
import { assertAlike, assertClosed } from "./outcomes.ts";
import { keyKindOf, type Place, placesOf, requestOf } from "./requests.ts";
import { allOf, send, summaryOf, type WireAnswer } from "./wire.ts";

const deadline = { timeout: rounds({ all: 1_200_000, few: 240_000 }) };

for (const database of databases) {
  describe(`a user's data, on ${database}`, () => {
    it("is neither shown to nor changed by any other caller, at any address", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const expired = await expiredCaller(home);
      const owner = await theOwner(home);
      const others = [...(await everybodyElse(t, home)), expired];
      const addresses = database === "sqlite" ? everyAddress() : sampleOf(everyAddress(), { everyNth: 12 });
      for (const address of addresses) {
        await t.test(titleOf(address), async () => {
          // Where a key is sent is checked before the store is read, so one place suffices on the second database.
          const places = database === "sqlite" ? placesOf(address) : placesOf(address).slice(0, 1);
          const count = callsOf(address, home.things()).length;
          const isSqlite = database === "sqlite";
          const ways = sampleOf([...Array(count).keys()], {
            everyNth: isSqlite ? 3 : count,
            from: trials,
          });
          for (const way of ways) {
            const sample = { everyNth: isSqlite ? 18 : 27, from: trials++ };
            await tryEverybody({ home, address, places, way, owner, others: sampleOf(others, sample) });
          }
        });
      }
      const internalErrors = home.world.logged.filter((line) => line.includes('"level":"error"'));
      assert.deepEqual(internalErrors, []);
    });
  });
}

describe("the service", () => {
  it("has no route that its route table doesn't name", async (t) => {
    let home: Home | undefined;
    const registered = await registeredWhile(async () => {
      home = await ownersHome(t, "sqlite");
    });
    const paths = everyPath();
    const named = [...paths].flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`));
    assert.ok(named.length > 25);
    assert.deepEqual(
      named.filter((one) => !registered.includes(one)),
      [],
    );
    const others = registered.filter((one) => !named.includes(one));
    for (const one of others) {
      const [method = "", path = ""] = one.split(" ");
      assert.ok(paths.has(path), `${one} is in no table: add it to src/outlets/route-table.ts, with its rule`);
      // Node answers CONNECT, a method for proxies, by closing.
      if (method === "CONNECT") continue;
      const target = path.replace(/(?<=\/):\w+/g, "1");
      const answer = await send(home!.world.baseUrl, { method, target });
      const isHeadOfGet = method === "HEAD" && answer.status !== 405 && paths.get(path)!.includes("GET");
      // HEAD answers as GET, under the rule of GET.
      const expected = isHeadOfGet ? (await send(home!.world.baseUrl, { method: "GET", target })).status : 405;
      assert.equal(answer.status, expected, one);
    }
  });
});

let trials = 0;

interface Trial {
  readonly home: Home;
  readonly address: Address;
  readonly places: readonly Place[];
  /** Index of the way to call it. */
  readonly way: number;
  readonly owner: Caller;
  readonly others: readonly Caller[];
}

/** Calls as every other caller, then as the owner, whose success proves that the call was valid. */
async function tryEverybody({ home, address, places, way, owner, others }: Trial): Promise<void> {
  await home.arrange("linked");
  await home.renew(address, callsOf(address, home.things())[way]!);
  const things = home.things();
  const ownersCall = callsOf(address, things)[way]!;
  const absentCall = callsOf(address, home.absent(things))[way]!;
  const kind = keyKindOf(address, ownersCall);
  const isAboutThings = JSON.stringify(ownersCall) !== JSON.stringify(absentCall);
  const marks = home.marks();
  const before = await home.rows();

  // A caller without a secToken sends the access token instead, which such a call accepts too.
  const standingOf = ({ is, keys }: Caller) =>
    kind && (is[kind] ?? (ownersCall.takesEitherToken && keys[kind] === undefined ? is.bearer : undefined));
  const mayCall = (caller: Caller) => {
    // The owner's swapped tokens, in a call that accepts both kinds everywhere.
    if (ownersCall.takesEitherToken && caller.hasSwappedTokens) return true;
    const standing = standingOf(caller);
    if (standing === undefined || !hasAccess(standing, home)) return false;
    if (ownersCall.isCompanysAlone && standing.kind !== "enterprise") return false;
    return standing.kind !== "enterprise" || !ownersCall.isOwnersAlone;
  };
  const answers: WireAnswer[] = [];
  const tryOne = async (caller: Caller, nth: number) => {
    // `npm test` lets each caller show the key in one place, the next caller in another.
    const tried = isAll ? places : [places[nth % places.length]!];
    for (const place of tried) {
      const label = `${caller.name}, ${place}`;
      const answer = await ask(home, address, ownersCall, caller, place);
      // A user name is shown again in its field to the person who typed it.
      const typed = ownersCall.key === "password" ? [things.userName] : (ownersCall.repeats ?? []);
      const shown = marks.filter((mark) => !typed.includes(mark) && allOf(answer).includes(mark));
      assert.deepEqual(shown, [], `${label}: ${summaryOf(answer)}`);
      if (kind && !standingOf(caller)) {
        assertClosed(address, kind, answer, label);
        if (caller.name !== "nobody") answers.push(answer);
      }
      // An expired page names its client, as the login page does for everybody.
      const isCompared = kind !== "browser" && (kind !== "password" || place === tried[0]);
      if (isAboutThings && isCompared) {
        const absent = await ask(home, address, absentCall, caller, place);
        assertAlike(withoutRepeats(answer, ownersCall), withoutRepeats(absent, absentCall), label);
      }
    }
  };
  await Promise.all(others.filter((caller) => !mayCall(caller)).map(tryOne));
  // The answer must not reveal why a key is wrong.
  if (kind !== "browser") for (const answer of answers) assertAlike(answer, answers[0]!, "the wrong keys");
  assert.deepEqual(differences(before, await home.rows()), []);

  for (const caller of [...others.filter(mayCall), owner]) {
    for (const place of places) {
      await home.arrange(ownersCall.needs ?? "linked");
      const call = callsOf(address, home.things())[way]!;
      const answer = await ask(home, address, call, withCookie(caller, owner, home), place);
      const success = call.isCompanysAlone && caller === owner ? 403 : (call.success ?? 200);
      assert.equal(answer.status, success, `${caller.name}, ${place}: ${summaryOf(answer)}`);
      await home.renew(address, call);
    }
  }
}

/** The answer without the ids that it repeats from the request. */
function withoutRepeats(answer: WireAnswer, { repeats = [] }: Call): WireAnswer {
  return { ...answer, text: repeats.reduce((text, id) => text.replaceAll(id, "…"), answer.text) };
}

/** The browser in which the owner has just signed in. */
function withCookie(caller: Caller, owner: Caller, home: Home): Caller {
  return caller === owner ? { ...caller, keys: { ...caller.keys, browser: home.cookie() } } : caller;
}

let sources = 0;

async function ask(home: Home, address: Address, call: Call, caller: Caller, place: Place): Promise<WireAnswer> {
  const kind = keyKindOf(address, call);
  let keys = kind ? keysFor(caller, kind, home) : caller.keys;
  if (call.endsKey && caller.newSecToken) keys = { ...keys, secToken: await caller.newSecToken() };
  const request = requestOf(address, call, keys, place);
  const source = ++sources;
  const from = ["X-Forwarded-For", `10.${source >> 16}.${(source >> 8) & 255}.${source & 255}`] as const;
  return send(home.world.baseUrl, { ...request, headers: [...(request.headers ?? []), from] });
}

function hasAccess(standing: Standing, { world, userId }: Home): boolean {
  if (standing.kind === "client") return standing.clientId === world.client.id;
  return standing.kind === "user" ? standing.userId === userId : standing.tenantId === world.tenantId;
}
