import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { jsonAnswer } from "../../src/http/answer/answer.ts";
import type { FinishedExchange } from "../../src/http/open-exchanges.ts";
import type { Callers } from "../../src/http/request/caller.ts";
import type { Route } from "../../src/http/routes.ts";
import { startHttp } from "../../src/http/server.ts";
import type { CallingPrincipal } from "../../src/identity/principal.ts";
import { InvalidToken, QuotaExceeded } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { collecting } from "../platform/made-platform.ts";
import { receivedBy } from "./fast-path-and-fastify.ts";

const largest = limits.bytesAtOnce;
const enterprise = { kind: "enterprise", tenantId: 1, clientId: "c", scopes: ["devices:control"] };
const principals = {
  one: enterprise,
  two: { ...enterprise, tenantId: 2 },
  reader: { ...enterprise, scopes: ["devices:read"] },
  user: { ...enterprise, kind: "user", userId: 7 },
  exhausted: { ...enterprise, clientId: "exhausted" },
} as unknown as Readonly<Record<string, CallingPrincipal>>;

const route: Route = {
  methods: ["PUT"],
  path: "/large",
  access: "bearer",
  errors: "standard",
  scopes: ["devices:control"],
  isForEnterprises: true,
  bodyBytes: largest,
  description: {
    operationId: "large",
    tag: "Provisioning",
    summary: "",
    words: [],
    answers: [],
    body: { contentType: "application/json", schema: {} },
  },
  answer: async () => jsonAnswer(200, {}),
};

/** A server with a route that takes large bodies from enterprise clients. */
async function takingLargeBodies(t: TestContext) {
  const finished: FinishedExchange[] = [];
  const reached: string[] = [];
  const counted = { verified: 0, admitted: 0 };
  const nobody = () => Promise.reject(new InvalidToken());
  const callers: Callers = {
    bySecToken: nobody,
    byClientSecret: nobody,
    async byAccessToken(token) {
      counted.verified += 1;
      return principals[token] ?? nobody();
    },
    admit(caller) {
      counted.admitted += 1;
      if ("clientId" in caller && caller.clientId === "exhausted") throw new QuotaExceeded(3, "Used up.");
    },
  };
  const server = await startHttp({
    serve: () => ({ routes: [route] }),
    host: "127.0.0.1",
    port: 0,
    report: collecting([]),
    callers,
    onExchange: (exchange) => void finished.push(exchange),
    onLimitReached: (limit) => void reached.push(limit),
  });
  t.after(() => server.stop());
  /** Sends the head and a part of the body; the test may send the rest. */
  const begin = async (token: string | undefined, length: string, body = "{", target = "/large") => {
    const socket = connect(server.port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    const received = receivedBy(socket);
    const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
    const head = `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${authorization}${length}\r\n\r\n`;
    socket.write(`${head}${body}`);
    const answer = async () => {
      while (!/\r\n\r\n.*\}$/s.test(received.text())) await once(socket, "data");
      return received.text().replace(/^(date|x-request-id): .*\r\n/gim, "");
    };
    return { socket, answer, status: async () => Number((await answer()).split(" ")[1]) };
  };
  /** Waits until the server has verified as many tokens, and has decided about their bodies. */
  const verified = async (count: number) => {
    while (counted.verified < count) await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  return { begin, verified, finished, reached, counted };
}

const whole = `Content-Length: ${largest}`;

describe("a large body", () => {
  it("is refused before it arrives when its caller is, with the answer and the record that a small one gets", {
    timeout: 20_000,
  }, async (t) => {
    const { begin, finished, counted } = await takingLargeBodies(t);
    const withoutId = (text: string) => text.replace(/"request_id":"[^"]+"/, "");
    const refused: unknown[] = [];
    for (const [token, target] of [
      [undefined],
      ["nobody"],
      ["reader"],
      ["user"],
      ["exhausted"],
      ["one", "/large?access_token=one"],
      ["one", "/large?a=%"],
    ] as const) {
      const small = await (await begin(token, "Content-Length: 2", "{}", target)).answer();
      const admitted = counted.admitted;
      counted.admitted = 0;
      const large = await (await begin(token, whole, "{", target)).answer();
      assert.equal(withoutId(large), withoutId(small));
      assert.equal(counted.admitted, admitted);
      counted.admitted = 0;
      while (finished.length < 2) await new Promise(setImmediate);
      const [first, second] = finished
        .splice(0)
        .map(({ requestId: _id, tookMs: _ms, lines: _lines, ...others }) => others);
      assert.deepEqual(second, first);
      refused.push([second!.status, second!.code]);
    }
    assert.deepEqual(refused, [
      [401, "missing_token"],
      [401, "invalid_token"],
      [403, "insufficient_scope"],
      [403, "enterprise_only"],
      [429, "quota_exceeded"],
      [400, "invalid_request"],
      [400, "invalid_request"],
    ]);
  });

  it("with so many values that to read them would hold up all others is refused before it is parsed", {
    timeout: 20_000,
  }, async (t) => {
    const { begin, reached } = await takingLargeBodies(t);
    const list = (parts: number) => `[${"0,".repeat(parts - 1)}0]`;
    const object = (members: number) => `{${Array.from({ length: members }, (_, nth) => `"${nth}":0`).join(",")}}`;
    const states = `{${Array.from({ length: 1_000 }, (_, nth) => `"${nth}":${object(99)}`).join(",")}}`;
    const statuses: number[] = [];
    for (const body of [
      ...[list(limits.jsonParts), list(limits.jsonParts + 1)],
      ...[object(limits.jsonMembers), object(limits.jsonMembers + 1)],
      // No broken text is read further either.
      ...[states, list(limits.jsonParts + 1).slice(0, -1)],
    ]) {
      statuses.push(await (await begin("one", `Content-Length: ${body.length}`, body)).status());
    }
    assert.deepEqual(statuses, [200, 409, 200, 409, 200, 409]);
    assert.deepEqual(reached, ["jsonParts", "jsonMembers", "jsonParts"]);
  });

  it("of unknown length is refused before it arrives, too", { timeout: 20_000 }, async (t) => {
    const { begin } = await takingLargeBodies(t);
    assert.equal(await (await begin(undefined, "Transfer-Encoding: chunked", "1\r\n{\r\n")).status(), 401);
  });

  it("is read for its caller, who is verified and counted once", { timeout: 20_000 }, async (t) => {
    const { begin, counted } = await takingLargeBodies(t);
    const { status } = await begin("one", whole, `{${" ".repeat(largest - 2)}}`);
    assert.equal(await status(), 200);
    assert.deepEqual(counted, { verified: 1, admitted: 1 });
  });

  it("arrives together with few others of its tenant; further ones are refused until one has arrived or its client is gone", {
    timeout: 20_000,
  }, async (t) => {
    const { begin, verified, reached } = await takingLargeBodies(t);
    const atOnce = limits.arrivingBytesPerTenant / largest;
    const arriving = [];
    for (let at = 0; at < atOnce; at++)
      arriving.push(await begin("one", at === 0 ? "Transfer-Encoding: chunked" : whole, ""));
    await verified(atOnce);
    const refused = await (await begin("one", whole)).answer();
    assert.match(refused, /^HTTP\/1.1 409 .*retry-after: 1\r\n.*"limit_reached"/s);
    assert.deepEqual(reached, ["arrivingBytesPerTenant"]);
    assert.equal(await (await begin("one", "Content-Length: 2", "{}")).status(), 200);
    const aboveDefault = ["Content-Length: 65537", `{${" ".repeat(65_535)}}`] as const;
    assert.equal(await (await begin("two", ...aboveDefault)).status(), 200);
    const [unending, vanishing, ...others] = arriving;

    vanishing!.socket.destroy();
    const passes = async () => {
      for (;;) {
        const status = await (await begin("one", ...aboveDefault)).status();
        if (status !== 409) return status;
      }
    };
    assert.equal(await passes(), 200);
    for (const { socket } of others) socket.write(`{${" ".repeat(largest - 2)}}`);
    for (const { status } of others) assert.equal(await status(), 200);
    unending!.socket.write(`500000\r\n${" ".repeat(0x500000)}\r\n`);
    assert.equal(await unending!.status(), 413);

    const next = [];
    for (let at = 0; at < atOnce; at++) next.push(await begin("one", whole, ""));
    for (const { socket } of next) socket.write(`{${" ".repeat(largest - 2)}}`);
    for (const { status } of next) assert.equal(await status(), 200);
  });

  it("above the limit of its path is refused as before, and reserves nothing", { timeout: 20_000 }, async (t) => {
    const { begin, counted } = await takingLargeBodies(t);
    for (let at = 0; at < 5; at++) {
      assert.equal(await (await begin("one", `Content-Length: ${largest + 1}`)).status(), 413);
    }
    assert.deepEqual(counted, { verified: 0, admitted: 0 });
  });
});
