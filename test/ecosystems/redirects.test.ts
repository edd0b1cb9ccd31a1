import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { judgeRedirect } from "../../src/ecosystems/nest/redirects.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { fanAction } from "./actions.ts";
import { answerOf, type ByteServer, putFrame, redirectTo, startByteServer, streamHead } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeDocument } from "./made-documents.ts";

const token = "c.TestToken123";
const signal = new AbortController().signal;
const documentAnswer = answerOf(200, JSON.stringify(makeDocument()));

describe("a redirect", () => {
  const followed: [string, string, string][] = [
    ["https://api.example.com", "https://shard7.example.com:9553/x", "shard7.example.com:9553"],
    ["https://api.example.com", "https://SHARD7.example.com/", "shard7.example.com"],
    ["https://api.example.com", "https://shard7.example.com:443/", "shard7.example.com"],
    ["https://api.example.com", "https://shard7.example.com/", "Shard7.example.com:443"],
    ["http://127.0.0.1:8090", "https://shard7.example.com/", "shard7.example.com:443"],
    ["http://127.0.0.1:8090", "/elsewhere", "127.0.0.1:8090"],
    ["http://127.0.0.1:8090", "http://[::1]:8091/", "[::1]:8091"],
  ];
  for (const [apiUrl, location, allowed] of followed) {
    it(`from ${apiUrl} to ${location} is followed when ${allowed} is allowed`, () => {
      const rules = { apiUrl: new URL(apiUrl), allowedHosts: [allowed] };
      assert.equal(judgeRedirect(location, rules.apiUrl, rules).isAllowed, true);
    });
  }

  const refused: [string, string, string][] = [
    ["https://api.example.com", "http://shard7.example.com/", "shard7.example.com"],
    ["https://api.example.com", "https://shard7.example.com:9553/", "shard7.example.com"],
    ["https://api.example.com", "https://shard7.example.com/", "shard7.example.com:9553"],
    ["https://api.example.com", "https://shard7.example.com.evil.example/", "shard7.example.com"],
    ["https://api.example.com", "https://shard7.example.com@evil.example/", "shard7.example.com"],
    ["https://api.example.com", "https://me@shard7.example.com/", "shard7.example.com"],
    ["https://api.example.com", "https://:x@shard7.example.com/", "shard7.example.com"],
    ["https://api.example.com", "//evil.example/", "api.example.com"],
    ["https://api.example.com", "https:\\\\evil.example\\", "api.example.com"],
    ["https://api.example.com", "file:///etc/passwd", ""],
    ["https://api.example.com", "https://", "api.example.com"],
    ["http://127.0.0.1:8090", "http://[::ffff:127.0.0.1]:8090/", "127.0.0.1:8090"],
    ["http://127.0.0.1:8090", "http://localhost:8090/", "127.0.0.1:8090"],
  ];
  for (const [apiUrl, location, allowed] of refused) {
    it(`from ${apiUrl} to ${location} is refused when only ${allowed || "nothing"} is allowed`, () => {
      const rules = { apiUrl: new URL(apiUrl), allowedHosts: [allowed] };
      assert.equal(judgeRedirect(location, rules.apiUrl, rules).isAllowed, false);
    });
  }
});

describe("a redirected Nest call", () => {
  const foreignAddresses: [string, (foreign: ByteServer) => string][] = [
    ["by its address", ({ port }) => `http://127.0.0.1:${port}/`],
    ["by its name", ({ port }) => `http://localhost:${port}/`],
    ["as an IPv6-mapped address", ({ port }) => `http://[::ffff:127.0.0.1]:${port}/`],
    ["as a decimal address", ({ port }) => `http://2130706433:${port}/`],
    ["as an octal address", ({ port }) => `http://0177.0.0.1:${port}/`],
    ["behind a user name", ({ port }) => `http://HOME@127.0.0.1:${port}/`],
    ["over another scheme", ({ port }) => `ftp://127.0.0.1:${port}/`],
    ["without a scheme", ({ port }) => `//127.0.0.1:${port}/`],
  ];
  for (const [how, address] of foreignAddresses) {
    it(`never reaches a foreign host ${how}`, async (t) => {
      const foreign = await startByteServer(t, (socket) => socket.end(documentAnswer));
      const home = await startByteServer(t, (socket) => {
        socket.end(redirectTo(`${address(foreign).replace("HOME", home.host)}?auth=${token}`));
      });
      const connector = connectorAt(home, [home]);
      await assert.rejects(connector.read(token, signal), (error: Error) => {
        assert.ok(error instanceof EcosystemUnreachable);
        assert.doesNotMatch(error.message, /TestToken|\?/i);
        return true;
      });
      const end = await listen(connector, token).ended;
      assert.equal(end.reason, "refused");
      assert.doesNotMatch(end.detail, /TestToken|\?/i);
      const outcome = await connector.act(token, fanAction("t1", true), signal);
      assert.equal(outcome.state, "rejected");
      assert.doesNotMatch(JSON.stringify(outcome), /TestToken|\?/i);
      assert.equal(await connector.revoke(token, signal), false);
      assert.deepEqual(foreign.requests, []);
    });
  }

  it("names the foreign host for the operator, unless the name contains the token", async (t) => {
    const locations = ["http://shard7.invalid/", `http://${token}.invalid/`];
    const home = await startByteServer(t, (socket, index) => socket.end(redirectTo(locations[index]!)));
    const connector = connectorAt(home, [home]);
    assert.match((await listen(connector, token).ended).detail, /shard7\.invalid/);
    assert.doesNotMatch((await listen(connector, token).ended).detail, /testtoken/i);
  });

  it("sends the token to an allowed host, and uses that host directly the next time", async (t) => {
    const shard = await startByteServer(t, (socket) => socket.end(documentAnswer));
    const home = await startByteServer(t, (socket) => socket.end(redirectTo(`${shard.url}/?x=1`)));
    const connector = connectorAt(home, [shard]);
    for (let call = 0; call < 3; call += 1) await connector.read(token, signal);
    assert.deepEqual([home.requests.length, shard.requests.length], [1, 3]);
    for (const request of shard.requests) assert.match(request, /^authorization: Bearer c\.TestToken123\r$/im);
    await connector.read("c.another", signal);
    assert.equal(home.requests.length, 2);
  });

  it("starts from the ecosystem's own address again after another answer than 200", async (t) => {
    const shard = await startByteServer(t, (socket, index) => socket.end(index === 1 ? answerOf(500) : documentAnswer));
    const home = await startByteServer(t, (socket) => socket.end(redirectTo(shard.url)));
    const connector = connectorAt(home, [shard]);
    await connector.read(token, signal);
    await assert.rejects(connector.read(token, signal), EcosystemUnreachable);
    await connector.read(token, signal);
    assert.deepEqual([home.requests.length, shard.requests.length], [2, 3]);
  });

  it("starts from the ecosystem's own address again after a lost stream", async (t) => {
    const shard = await startByteServer(t, (socket) => socket.end(streamHead + putFrame(makeDocument())));
    const home = await startByteServer(t, (socket) => socket.end(redirectTo(shard.url)));
    const connector = connectorAt(home, [shard]);
    for (let call = 0; call < 2; call += 1) assert.equal((await listen(connector, token).ended).reason, "closed");
    assert.deepEqual([home.requests.length, shard.requests.length], [2, 2]);
  });

  it("accepts a 401 of a remembered host only when the ecosystem's own address answers it too", async (t) => {
    const old = await startByteServer(t, (socket, index) => socket.end(index === 0 ? documentAnswer : answerOf(401)));
    const next = await startByteServer(t, (socket, index) => socket.end(index === 0 ? documentAnswer : answerOf(401)));
    const home = await startByteServer(t, (socket, index) => socket.end(redirectTo(index === 0 ? old.url : next.url)));
    const connector = connectorAt(home, [old, next]);
    await connector.read(token, signal);
    await connector.read(token, signal);
    await assert.rejects(connector.read(token, signal), EcosystemRefused);
    assert.deepEqual([home.requests.length, old.requests.length, next.requests.length], [3, 2, 3]);
  });

  it("follows three redirects, and no fourth", async (t) => {
    let hops = 3;
    const home: ByteServer = await startByteServer(t, (socket) => {
      hops -= 1;
      socket.end(hops < 0 ? documentAnswer : redirectTo(`${home.url}/${hops}`));
    });
    const connector = connectorAt(home, [home]);
    await connector.read(token, signal);
    hops = 4;
    await assert.rejects(connector.read(token, signal), EcosystemUnreachable);
    assert.equal(home.requests.length, 8);
  });

  it("is not followed without a Location, nor for other kinds of redirects", async (t) => {
    for (const answer of [answerOf(307), redirectTo("http://"), answerOf(302, "", "Location: /x\r\n")]) {
      const home = await startByteServer(t, (socket) => socket.end(answer));
      await assert.rejects(connectorAt(home, [home]).read(token, signal), EcosystemUnreachable);
      assert.equal(home.requests.length, 1);
    }
  });
});

function connectorAt(home: ByteServer, allowed: readonly ByteServer[]) {
  return nestConnector({ name: "nest", apiUrl: home.url, allowedHosts: allowed.map(({ host }) => host) });
}
