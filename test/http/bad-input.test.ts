import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Caller, theOwner } from "../isolation/callers.ts";
import { callsOf } from "../isolation/calls.ts";
import { assertRefusalShape, isRefused } from "../isolation/error-shapes.ts";
import { type Address, errorsAt, everyAddress, titleOf } from "../isolation/every-address.ts";
import { type Home, ownersHome } from "../isolation/home.ts";
import { differences, lastingRows } from "../isolation/lasting-rows.ts";
import { type Place, placesOf, requestOf } from "../isolation/requests.ts";
import { allOf, type HeaderLines, send, summaryOf, type WireAnswer, type WireRequest } from "../isolation/wire.ts";
import { databases, surfaceDatabases } from "../set-up/deployment.ts";
import { rounds } from "../set-up/extent.ts";
import { sampleOf } from "../set-up/sample.ts";
import { anyRequest } from "./any-request.ts";
import { type BadRequest, sent } from "./bad-request.ts";
import { badVersionsOf } from "./bad-requests.ts";

const deadline = { timeout: 1_200_000 };

for (const database of databases) {
  describe(`a wrong request, on ${database}`, () => {
    it(
      "gets one refusal in the format of its address, which repeats nothing of the request, and changes nothing",
      deadline,
      async (t) => {
        const isFull = database === "sqlite";
        const home = await ownersHome(t, database);
        const owner = await theOwner(home);
        for (const address of isFull ? everyAddress() : sampleOf(everyAddress(), { everyNth: 10 })) {
          await t.test(titleOf(address), () => tryAll(home, address, owner, isFull));
        }
        assert.deepEqual(unexpectedErrors(home), []);
      },
    );

    // How a request is read does not depend on the store: the sample above is enough on PostgreSQL.
    if (!surfaceDatabases.includes(database)) return;

    it("that can't succeed has its own error code", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { keys } = await theOwner(home);
      const before = await rows(home);
      for (const [status, code, change] of impossible(home)) {
        const headers = [["Authorization", `Bearer ${keys.bearer}`], ...(change.headers ?? [])] as HeaderLines;
        const answer = await ask(home, { method: "GET", ...change, headers });
        const problem = `${change.target} ${String(change.body).slice(0, 60)}: ${summaryOf(answer)}`;
        assert.equal(answer.status, status, problem);
        assertRefusalShape("standard", answer);
        assert.equal(JSON.parse(answer.text).error, code, problem);
        assertSilent(answer);
      }
      assert.deepEqual(differences(before, await rows(home)), []);
    });

    it("made at random causes no internal error, and is refused in the format of its address", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { client, bobId } = home.world;
      const { keys } = await theOwner(home);
      // Earlier requests may have removed the caller's own user: use another user's id.
      const things = { ...home.things(), userId: String(bobId) };
      const property = fc.asyncProperty(
        anyRequest(things, { bearer: keys.bearer!, secToken: keys.secToken!, client }),
        async (request) => {
          const answer = await ask(home, request);
          const [path = ""] = request.target.split(/[?#]/);
          const { errors, isRoute } = errorsAt(request.method, path);
          if (request.method === "HEAD") assert.ok(answer.status < 500, summaryOf(answer));
          else if (isRefused(answer)) {
            assertRefusalShape(errors, answer, !isRoute || path.includes("%"));
          }
        },
      );
      const isFull = database === "sqlite";
      await fc.assert(property, { numRuns: isFull ? rounds({ all: 600, few: 20 }) : 200 });
      assert.deepEqual(unexpectedErrors(home), []);
    });
  });
}

type Impossible = readonly [status: number, code: string, request: Partial<WireRequest> & { readonly target: string }];

/** Requests of a valid caller about their own devices that can't succeed. */
function impossible(home: Home): readonly Impossible[] {
  const { lampId, linkedId, thingId } = home.things();
  const lamp = `/v3/devices/${lampId}`;
  const linked = `/v3/devices/${linkedId}`;
  const fanRequest = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
  const put = (status: number, code: string, target: string, members: string): Impossible => {
    const headers = [["Content-Type", "application/json"]] as const;
    return [status, code, { method: "PUT", target, headers, body: members }];
  };
  const command = (members: string, status = 400, code = "invalid_request"): Impossible => {
    const headers = [["Content-Type", "application/json"]] as const;
    return [status, code, { method: "POST", target: `/v3/things/${thingId}/commands`, headers, body: members }];
  };
  const start = '"trait":"fanTimer","command":"start"';
  return [
    command(`{"trait":"${sent}","command":"start"}`),
    command('{"trait":"__proto__","command":"start"}'),
    command('{"trait":"fanTimer"}'),
    command(`{"trait":"fanTimer","command":"${sent}"}`),
    command('{"trait":"fanTimer","command":"toString"}'),
    command('{"trait":"fanTimer","command":["start"]}'),
    command(`{${start},"${sent}":1}`),
    command(`{${start},"params":{"${sent}":1}}`),
    command(`{${start},"params":{"minutes":"${sent}"}}`),
    command(`{${start},"params":{"minutes":1e999}}`),
    command(`{${start},"params":{"minutes":null}}`),
    command(`{${start},"params":null}`),
    command(`{${start},"params":["${sent}"]}`),
    command('{"trait":"thermostat","command":"setTarget","params":{"celsius":20,"heatCelsius":19}}'),
    command(`{${start},"params":{"minutes":5},"x":"${sent.repeat(100)}"}`, 413, "body_too_large"),
    ...[
      "NaN",
      "-1",
      "-0",
      "+1",
      "1e3",
      "1.0",
      "0x10",
      "18446744073709551616",
      "%D9%A1",
      "%201",
      "1%00",
      "true",
      "1,2",
    ].map((since): Impossible => [400, "invalid_request", { target: `${lamp}?since=${since}` }]),
    [400, "invalid_request", { target: `${lamp}?since=1&since=1` }],
    [400, "invalid_request", { target: "/v3/devices?cursor=x" }],
    [400, "invalid_request", { target: "/v3/devices?cursor=x&cursor=x" }],
    [400, "invalid_request", { target: "/v3/devices?deviceTypeName=Lamp&deviceTypeName=Lamp" }],
    [400, "invalid_request", { target: "/v3/users?access_token=x" }],
    put(403, "read_only_attribute", linked, '{"d.structures[1].a.away":"away"}'),
    put(403, "read_only_attribute", linked, `{"${fanRequest}":"true","o.totalStructures":2}`),
    put(404, "unknown_attribute", linked, `{"${fanRequest}":"true","${sent}":"x"}`),
    put(404, "unknown_attribute", linked, `{"${sent}":"x","d.structures[1].a.away":"away"}`),
    put(404, "unknown_attribute", linked, '{"d.structures[3].a.away":"away"}'),
    put(404, "unknown_attribute", linked, '{"__proto__":"x"}'),
    put(404, "unknown_attribute", linked, '{"constructor":"x"}'),
    put(400, "invalid_request", linked, `{"${fanRequest}":"${sent.repeat(18)}"}`),
    put(400, "invalid_request", linked, `{"${fanRequest}":"${sent}\\u0007"}`),
    put(400, "invalid_request", linked, `{"${fanRequest}":"true","${fanRequest.replace("stats", "stat")}":"true"}`),
    put(400, "invalid_request", lamp, `{"${sent.repeat(9)}":"x"}`),
    put(400, "invalid_request", lamp, `{"":"x"}`),
    put(400, "invalid_request", lamp, `{"a\\u0000":"x","b":"y"}`),
    put(400, "invalid_request", lamp, `{"a":"x","b":"\\u0000"}`),
    put(400, "invalid_request", lamp, `{"a":"x","b":"\\ud800"}`),
    put(400, "invalid_request", lamp, `{"a":"x","b\\ud800":"y"}`),
    put(400, "invalid_request", lamp, `{"a":"x","b":["${sent}"]}`),
    put(400, "invalid_request", lamp, `{"a":"x","\\u0061":"${sent}"}`),
    put(413, "value_too_large", lamp, `{"a":"x","b":"${"é".repeat(4_097)}"}`),
    put(413, "body_too_large", lamp, `{"a":"${"x".repeat(65_530)}"}`),
  ];
}

let trials = 0;

/**
 * Every valid call of the address, made wrong in every way. `npm test` sends a sample to each address, another one to
 * the next address, so that every kind of mistake is made at several addresses.
 */
async function tryAll(home: Home, address: Address, owner: Caller, isFull: boolean): Promise<void> {
  const ways = callsOf(address, home.things()).length;
  const everyNth = isFull ? rounds({ all: 40, few: 240 }) : 100;
  const tried = sampleOf([...Array(ways).keys()], { everyNth: isFull ? Math.min(ways, 2) : ways, from: trials });
  const places = isFull ? placesOf(address) : placesOf(address).slice(-1);
  for (const way of tried) {
    for (const place of places) {
      // Requests that may succeed use up objects and hash passwords: once is enough.
      const isFirst = way === tried[0] && place === places[0];
      const isSameAsGet = address.errors === "fault" && address.method === "POST";
      const withStrange = isFull && !isSameAsGet && (isFirst || address.rule === "bearer");
      await tryWay({ home, address, way, owner, place, withStrange, sample: { everyNth, from: trials++ } });
    }
  }
}

interface Trial {
  readonly home: Home;
  readonly address: Address;
  readonly way: number;
  readonly owner: Caller;
  readonly place: Place;
  /** Include requests that may succeed. */
  readonly withStrange: boolean;
  readonly sample: { readonly everyNth: number; readonly from: number };
}

async function tryWay({ home, address, way, owner, place, withStrange, sample }: Trial): Promise<void> {
  /** Restores what was used up or removed. */
  const badVersions = async () => {
    const renewed = callsOf(address, home.things())[way]!;
    await home.renew(address, renewed);
    await home.arrange(renewed.needs ?? "linked");
    const call = callsOf(address, home.things())[way]!;
    const secToken = call.endsKey ? await home.secToken() : owner.keys.secToken!;
    const right = requestOf(address, call, { ...owner.keys, secToken, browser: home.cookie() }, place);
    return sampleOf(badVersionsOf(right), sample);
  };
  const problems: string[] = [];
  const check = ({ name, mayPass = false, isNowhere = false }: BadRequest, answer: WireAnswer) => {
    try {
      if (!isRefused(answer)) assert.ok(mayPass, "it was not refused");
      else {
        assertSilent(answer);
        if (address.method !== "HEAD") assertRefusalShape(address.errors, answer, isNowhere);
      }
    } catch (problem) {
      problems.push(`${place}, ${name}: ${(problem as Error).message.split("\n")[0]}: ${summaryOf(answer)}`);
    }
  };

  let versions = await badVersions();
  const refused: number[] = [];
  for (let nth = 0; nth < versions.length; nth++) {
    const version = versions[nth]!;
    if (!version.mayPass) refused.push(nth);
    else if (withStrange) {
      const answer = await ask(home, version.request);
      check(version, answer);
      if (isRefused(answer)) refused.push(nth);
      else versions = await badVersions();
    }
  }
  versions = await badVersions();
  const before = await rows(home);
  for (const nth of refused) check(versions[nth]!, await ask(home, versions[nth]!.request));
  assert.deepEqual(problems, []);
  assert.deepEqual(differences(before, await rows(home)), []);
}

function assertSilent(answer: WireAnswer): void {
  // The typed user name is shown again in its field for correction.
  const text = answer.text.replace(/(name="username"[^>]* value=")[^"]*/, "$1");
  assert.ok(!allOf({ ...answer, text }).includes(sent), "what was sent is repeated");
}

let sources = 0;

function ask(home: Home, request: WireRequest): Promise<WireAnswer> {
  const source = ++sources;
  const from = ["X-Forwarded-For", `10.${source >> 16}.${(source >> 8) & 255}.${source & 255}`] as const;
  return send(home.world.baseUrl, { ...request, headers: [...(request.headers ?? []), from] });
}

async function rows({ world }: Home): Promise<readonly string[]> {
  return (await lastingRows(world)).map((row) => JSON.stringify(row));
}

/** Unexpected errors in the service's log. */
function unexpectedErrors({ world }: Home): readonly string[] {
  return world.logged.filter((line) => line.includes('"level":"error"'));
}
