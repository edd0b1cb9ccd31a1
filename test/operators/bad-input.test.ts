import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type AdminCall, memberName } from "../../src/operators/admin-call.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { anyOperatorRequest } from "../http/any-operator-request.ts";
import { type BadRequest, sent, strangeValues } from "../http/bad-request.ts";
import { badVersionsOf } from "../http/bad-requests.ts";
import { madeTable } from "../http/made-table.ts";
import { assertRefusalShape } from "../isolation/error-shapes.ts";
import { errorsAt } from "../isolation/every-address.ts";
import { differences, lastingRows } from "../isolation/lasting-rows.ts";
import { allOf, header, send, summaryOf, type WireAnswer, type WireRequest } from "../isolation/wire.ts";
import { rounds } from "../set-up/extent.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { sampleOf } from "../set-up/sample.ts";
import { databases } from "../stories/world.ts";
import { addressOf, fixtureOf } from "./call-fixture.ts";
import { operatorWorld, password } from "./operator-world.ts";

const deadline = { timeout: 1_200_000 };

for (const database of databases) {
  const isFull = database === "sqlite";
  describe(`a wrong request of an operator, on ${database}`, () => {
    it("to /admin/v1 gets one refusal, which tells no secret, and changes nothing", deadline, async (t) => {
      const { world, ask, bearer, rows } = await operatorsHome(t, database);
      const fixture = await fixtureOf(world);
      const calls = world.service.parts.administration.calls;
      const tried = isFull ? fixture : sampleOf([...fixture], { everyNth: 12 });
      for (const [nth, [act, makeSent]] of tried.entries()) {
        const call = calls.find((one) => one.act === act)!;
        const { path, json } = addressOf(call, await makeSent());
        const headers = [["Authorization", bearer] as const];
        const plain = { method: call.method, target: `/admin/v1${path}`, headers };
        const right: WireRequest =
          json === undefined ? plain : { ...plain, headers: [...headers, jsonType], body: JSON.stringify(json) };
        const versions = [
          ...badVersionsOf(right).map((version) => allowingLists(version, call)),
          ...badPaths(right, call),
        ];
        const chosen = sampleOf(versions, { everyNth: isFull ? 40 : 100, from: nth });
        const before = await rows();
        for (const version of chosen.filter((one) => !one.mayPass)) {
          const answer = await ask(version.request);
          const where = `${act}, ${version.name}: ${summaryOf(answer)}`;
          assert.ok(answer.status >= 400, where);
          assertRefusal(answer, where);
          if (!version.isNowhere) assert.ok(!repeatsSecret(version, answer), where);
        }
        assert.deepEqual(differences(before, await rows()), [], act);
        // A removal that passes would leave nothing for the next ones.
        if (call.method !== "DELETE") {
          for (const version of chosen.filter((one) => one.mayPass)) {
            const answer = await ask(version.request);
            const where = `${act}, ${version.name}: ${summaryOf(answer)}`;
            if (answer.status >= 400) assertRefusal(answer, where);
            assert.ok(!repeatsSecret(version, answer), where);
          }
        }
        // The next call may need what this one makes.
        assert.ok((await ask(right)).status < 500, act);
      }
      assert.deepEqual(unexpectedErrors(world), []);
    });

    // How a request is read does not depend on the store.
    if (!isFull) return;

    it("to a page of the console is answered with a page that shows it as text", deadline, async (t) => {
      const { world, ask, cookie } = await operatorsHome(t, database);
      await fixtureOf(world);
      const strange = [...strangeValues.map((value) => encodeURIComponent(value.toWellFormed())), "1", "2147483648"];
      let nth = 0;
      const look = async (target: string) => {
        const answer = await ask({ method: "GET", target, headers: [["Cookie", cookie]] });
        const where = `${target.slice(0, 200)}: ${summaryOf(answer)}`;
        assert.ok(answer.status < 500, where);
        assert.ok(!answer.text.includes(`${sent}'"<script>`), where);
        assert.equal(header(answer, "x-injected"), undefined, where);
        if (answer.status >= 400) assertRefusalShape("page", answer, true);
      };
      for (const { path, query = [] } of consolePages) {
        const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
        const inPath = names.flatMap((name) =>
          strange.map((value) => path.replace(`:${name}`, value).replace(/:\w+/g, "1")),
        );
        const plain = path.replace(/:\w+/g, "1");
        const inQuery = [...query, "tenant", "parts", "do", "cursor"].flatMap((name) =>
          strange.map((value) => `${plain}?${name}=${value}`),
        );
        for (const one of sampleOf([...inPath, ...inQuery], { everyNth: 12, from: nth++ }))
          await look(`/console${one}`);
      }
      assert.deepEqual(unexpectedErrors(world), []);
    });

    it("in a form of the console is refused with a page, or done as it says", deadline, async (t) => {
      const { world, ask, cookie } = await operatorsHome(t, database);
      await fixtureOf(world);
      const headers = [["Cookie", cookie] as const, formType, ["Sec-Fetch-Site", "same-origin"] as const];
      const forms = madeTable().filter(({ path, methods }) => path.startsWith("/console") && methods.includes("POST"));
      let nth = 0;
      const trySome = async (right: WireRequest, everyNth: number) => {
        for (const version of sampleOf(badVersionsOf(right), { everyNth, from: nth++ })) {
          const answer = await ask(version.request);
          const where = `${right.target}, ${version.name}: ${summaryOf(answer)}`;
          assert.ok(answer.status < 500, where);
          if (!version.mayPass) assert.ok(answer.status >= 400 || version.name.includes("twice"), where);
          assert.ok(!allOf(answer).includes(`${sent}'"<script>`), where);
          if (answer.status >= 400) assertRefusalShape("page", answer, true);
        }
      };
      const { calls } = world.service.parts.administration;
      for (const { act, fields = [], path } of calls.filter(({ act }) => !endsTheTest.includes(act))) {
        const options = [
          ...[...path.matchAll(/:(\w+)/g)].map(([, option]) => option!),
          ...fields.map((one) => one.option),
        ];
        const body = String(
          new URLSearchParams([["act", act], ["to", "/console"], ...options.map((one) => [one, "1"])]),
        );
        await trySome({ method: "POST", target: "/console/do", headers, body }, 60);
      }
      for (const { path } of forms.filter(({ path }) => path !== "/console/do" && path !== "/console/sign-out")) {
        const body = String(new URLSearchParams({ name: "eve", password, tenant: "Acme", to: "/console" }));
        await trySome({ method: "POST", target: path.replace(/:\w+/g, "bwol_none"), headers, body }, 30);
      }
      assert.deepEqual(unexpectedErrors(world), []);
    });

    it("made at random causes no internal error, and is refused in the format of its address", deadline, async (t) => {
      const { world, ask, bearer, cookie } = await operatorsHome(t, database);
      await fixtureOf(world);
      const calls = world.service.parts.administration.calls.filter(({ act }) => !endsTheTest.includes(act));
      const property = fc.asyncProperty(anyOperatorRequest(calls, { bearer, cookie }), async (request) => {
        const answer = await ask(request);
        const [path = ""] = request.target.split(/[?#]/);
        const { errors, isRoute } = errorsAt(request.method, path);
        assert.ok(answer.status < 500, summaryOf(answer));
        if (answer.status < 400) return;
        if (errors === "page") assertRefusalShape(errors, answer, true);
        else if (isRoute) assertRefusal(answer, summaryOf(answer));
      });
      await fc.assert(property, { numRuns: rounds({ all: 1_500, few: 40 }) });
      assert.deepEqual(unexpectedErrors(world), []);
    });
  });
}

const jsonType = ["Content-Type", "application/json"] as const;
const formType = ["Content-Type", "application/x-www-form-urlencoded"] as const;
/** They end the operator who sends the requests, or take long. */
const endsTheTest = ["operator remove", "operator suspend", "operator role", "operator sessions end", "outlet check"];

/** The service sends messages, works through trait maps, counts links once an hour, and on PostgreSQL takes up the made link. */
const changesByItself = [
  ...["webhook_deliveries", "links", "blind_intervals", "log", "device_type_work"],
  ...["link_hours", "counted_hours"],
];

/** A service with an owner, who has a token and a session in a browser. */
async function operatorsHome(t: Parameters<typeof operatorWorld>[0], database: string) {
  const databaseUrl = database === "sqlite" ? undefined : await (await sharedCluster()).createDatabase();
  const world = await operatorWorld(t, databaseUrl, { failuresPerSource: 1_000_000, trustedProxies: ["127.0.0.1"] });
  const { cookie } = await world.owner();
  const { token } = await world.run("operator token make", { operator: "ada", name: "bad input" });
  let sources = 0;
  return {
    world,
    bearer: `Bearer ${token}`,
    cookie,
    ask(request: WireRequest): Promise<WireAnswer> {
      const source = ++sources;
      const from = ["X-Forwarded-For", `10.${source >> 16}.${(source >> 8) & 255}.${source & 255}`] as const;
      return send(world.service.baseUrl, { ...request, headers: [...(request.headers ?? []), from] });
    },
    rows: async () => {
      const rows = await lastingRows({ folder: world.folder, databaseUrl });
      return rows.filter(([table]) => !changesByItself.includes(table)).map((row) => JSON.stringify(row));
    },
  };
}

/** A list in a query is a parameter that stands there several times. */
function allowingLists(version: BadRequest, { method, fields = [] }: AdminCall): BadRequest {
  const lists = method === "GET" ? fields.filter(({ kind }) => kind === "texts") : [];
  return lists.some((field) => version.name === `${memberName(field)} twice`) ? { ...version, mayPass: true } : version;
}

/** Each parameter of the path in turn is strange. */
function badPaths(right: WireRequest, { path }: AdminCall): readonly BadRequest[] {
  const places = path.split("/").flatMap((part, place) => (part.startsWith(":") ? [place] : []));
  const [where = "", query] = right.target.split("?");
  return places.flatMap((place) =>
    strangeValues.map((value) => {
      // `/admin/v1` comes before the path.
      const parts = where.split("/").map((part, at) => (at === place + 2 ? encodeURIComponent(value) : part));
      const target = `${parts.join("/")}${query === undefined ? "" : `?${query}`}`;
      return {
        name: `part ${place} is ${JSON.stringify(value).slice(0, 40)}`,
        request: { ...right, target },
        mayPass: true,
      };
    }),
  );
}

/** One clear refusal. Operators read again what they typed, but no control character and no long text. */
function assertRefusal(answer: WireAnswer, where: string): void {
  assert.ok(answer.status >= 400 && answer.status < 500, where);
  assert.equal(header(answer, "content-type"), "application/json; charset=utf-8", where);
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ["error", "error_description", "request_id"], where);
  assert.match(body.error, /^[a-z]+(_[a-z]+)*$/, where);
  assert.match(body.error_description, /^[^\p{Cc}\p{Cf}\p{Cs}]{4,400}$/u, where);
}

function repeatsSecret({ name }: BadRequest, answer: WireAnswer): boolean {
  return /^(password|message|settings|authorization)/.test(name) && allOf(answer).includes(sent);
}

/** Unexpected errors in the service's log. The made link has a token that no key opens. */
function unexpectedErrors({ logged }: { readonly logged: readonly string[] }): readonly string[] {
  const isOfMadeLink = (line: string) =>
    /a link's token can't be opened|a removed link could not be revoked/.test(line);
  return logged.filter((line) => line.includes('"level":"error"') && !isOfMadeLink(line));
}
