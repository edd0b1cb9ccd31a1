import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { readStrictly } from "../platform/strict-xml.ts";
import { madeServer } from "./made-server.ts";

const call = "/zdk/services/zamapi/getDeviceList";
const link = "/adaptor/federatedtokens";
const host = "Host: a\r\nConnection: close\r\n";
const form = "Content-Type: application/x-www-form-urlencoded\r\n";

/** Malformed requests for any path, with the status and the number that they get. */
const refused = (path: string): readonly (readonly [name: string, status: number, code: number, request: string])[] => [
  ["a wrong method", 405, 103, `PATCH ${path} HTTP/1.1\r\n${host}\r\n`],
  ["a preflight", 405, 103, `OPTIONS ${path} HTTP/1.1\r\n${host}Origin: https://a.example\r\n\r\n`],
  ["a trailing slash", 404, 103, `GET ${path}/ HTTP/1.1\r\n${host}\r\n`],
  ["a path without its end", 404, 103, `GET ${path.split("/").slice(0, 2).join("/")} HTTP/1.1\r\n${host}\r\n`],
  ["a longer path", 404, 103, `POST ${path}/x/y HTTP/1.1\r\n${host}${form}Content-Length: 1\r\n\r\nx`],
  ["another type", 415, 102, `POST ${path} HTTP/1.1\r\n${host}Content-Type: text/xml\r\nContent-Length: 4\r\n\r\n<x/>`],
  ["a body without a type", 415, 102, `POST ${path} HTTP/1.1\r\n${host}Content-Length: 1\r\n\r\nx`],
  ["a compressed body", 415, 102, `POST ${path} HTTP/1.1\r\n${host}${form}Content-Encoding: gzip\r\n\r\n`],
  ["half an escape in a form", 400, 102, `POST ${path} HTTP/1.1\r\n${host}${form}Content-Length: 3\r\n\r\na=%`],
  ["half an escape in a query", 400, 102, `GET ${path}?a=%Z HTTP/1.1\r\n${host}\r\n`],
  ["half an escape in a path", 400, 102, `GET ${path}/%E0%A4%A HTTP/1.1\r\n${host}\r\n`],
  [
    "a large body",
    413,
    102,
    `POST ${path} HTTP/1.1\r\n${host}${form}Content-Length: 70000\r\n\r\n${"x".repeat(70_000)}`,
  ],
  ["two hosts", 400, 102, `GET ${path} HTTP/1.1\r\nHost: b\r\n${host}\r\n`],
  ["a whole address", 400, 102, `GET http://a.example${path} HTTP/1.1\r\n${host}\r\n`],
  ["a header without a colon", 400, 102, `GET ${path} HTTP/1.1\r\n${host}nonsense\r\n\r\n`],
  ["a broken chunk", 400, 102, `POST ${path} HTTP/1.1\r\n${host}${form}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ["a long address", 431, 102, `GET ${path}?a=${"x".repeat(5_000_000)} HTTP/1.1\r\n${host}\r\n`],
];

async function refusals(t: TestContext, path: string, read: (text: string, type: string) => number) {
  const { raw } = await madeServer(t);
  for (const [name, status, code, request] of refused(path)) {
    const answer = await raw(request);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), `${name}: ${answer}`);
    const [, type = ""] = /^content-type: (.*)$/im.exec(head) ?? [];
    assert.equal(read(body, type), code, name);
    if (status === 405) assert.match(head, /^allow: (GET, POST|POST, PUT, DELETE, GET, HEAD)$/im, name);
  }
}

describe("every refusal", () => {
  it("below /zdk is a fault in XML", (t) =>
    refusals(t, call, (text, type) => {
      assert.equal(type, "text/xml; charset=utf-8", text);
      const { name, children } = readStrictly(text);
      assert.equal(name, "ns1:requestFault");
      assert.deepEqual(
        children.map((child) => child.name),
        ["errorCode", "errorMsg"],
      );
      assert.match(children[1]!.text, /^[A-Z].+\.$/);
      return Number(children[0]!.text);
    }));

  it("below /adaptor is a number and a sentence in JSON", (t) =>
    refusals(t, link, (text, type) => {
      assert.equal(type, "application/json; charset=utf-8", text);
      const body = JSON.parse(text);
      assert.deepEqual(Object.keys(body), ["errorCode", "errorMessage"]);
      assert.match(body.errorMessage, /^[A-Z].+\.$/);
      return body.errorCode;
    }));

  it("of a body that doesn't arrive has the format of its path", async (t) => {
    const { raw } = await madeServer(t, { limits: { headersTimeoutMs: 20, requestTimeoutMs: 40 } });
    const slow = (path: string) => raw(`POST ${path} HTTP/1.1\r\n${host}${form}Content-Length: 9\r\n\r\nx`);
    const answers = await Promise.all([call, link, "/oauth2/access_token"].map(slow));
    assert.match(answers[0]!, /^HTTP\/1.1 408 [\s\S]*<errorCode>102</);
    assert.match(answers[1]!, /^HTTP\/1.1 408 [\s\S]*{"errorCode":102,/);
    assert.match(answers[2]!, /^HTTP\/1.1 408 [\s\S]*{"error":"request_timeout",/);
  });

  it("below all other paths is the error object", async (t) => {
    const { fetch, raw } = await madeServer(t);
    for (const path of ["/zdkx", "/adaptors/x", "/acct", "/v3/zdk", "/"]) {
      assert.equal(((await (await fetch(path)).json()) as { error: string }).error, "not_found", path);
    }
    assert.match(await raw(`GET /v3/users HTTP/1.1\r\n${host}nonsense\r\n\r\n`), /"error":"invalid_request"/);
  });
});

describe("a request without a body", () => {
  /** As old HTTP stacks send a POST whose parameters are in the query. */
  const empties = [
    "Content-Length: 0\r\nContent-Type: text/plain\r\n\r\n",
    "Content-Length: 0\r\nContent-Type: text/xml; charset=utf-8\r\n\r\n",
    "Content-Length: 0\r\nContent-Type: nonsense\r\n\r\n",
    "Content-Length: 0\r\nContent-Type: \r\n\r\n",
    "Content-Length: 0\r\nContent-Type: application/json\r\n\r\n",
    "Content-Length: 0\r\n\r\n",
    "Content-Type: text/plain\r\n\r\n",
    "Content-Type: application/x-www-form-urlencoded\r\n\r\n",
    "\r\n",
    "Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Type: nonsense\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ];

  it("has its Content-Type ignored, and its parameters read from the query", async (t) => {
    const { raw, secToken, userId, federationCalls } = await madeServer(t);
    const account = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" });
    const calls = [
      ["GET", `${call}?secToken=${secToken}`],
      ["POST", `${call}?secToken=${secToken}`],
      ["POST", `${link}?${account}`],
      ["PUT", `${link}?${account}`],
      ["GET", `${link}?${account}`],
      ["DELETE", `${link}?${account}`],
      ["POST", `/adaptor/largestrings?secToken=${secToken}&id=12`],
    ];
    for (const empty of empties) {
      for (const [method, target] of calls) {
        const answer = await raw(`${method} ${target} HTTP/1.1\r\n${host}${empty}`);
        assert.match(answer, /^HTTP\/1.1 200 /, `${method} ${empty}: ${answer}`);
      }
      assert.deepEqual(
        federationCalls.splice(0).map(([what, who]) => [what, who]),
        ["link", "relink", "status", "unlink", "largeStrings"].map((what) => [what, userId]),
        empty,
      );
    }
  });

  it("leaves the connection open for the next request", async (t) => {
    const { raw, secToken } = await madeServer(t);
    const target = `${call}?secToken=${secToken}`;
    const keptOpen = empties.map((empty) => `POST ${target} HTTP/1.1\r\nHost: a\r\n${empty}`).join("");
    const last = `GET ${target} HTTP/1.1\r\n${host}\r\n`;
    const wrong = `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx`;
    const statuses = [...(await raw(keptOpen + wrong + last)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, one]) => one);
    assert.deepEqual(statuses, [...empties.map(() => "200"), "415", "200"]);
  });
});
