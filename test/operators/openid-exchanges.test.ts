import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { ClientGone } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { OpenIdRefused, OpenIdUnavailable } from "../../src/operators/openid/openid-errors.ts";
import { openIdProvider } from "../../src/operators/openid/provider.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { eventually } from "../stories/world.ts";

describe("codes of an OpenID provider that answers slowly", () => {
  it("are exchanged for one address while another sends more than can wait", async (t) => {
    const { exchange, codes, answerNext } = await slowProvider(t);
    const flood = Array.from({ length: 300 }, (_, number) => exchange(`flood-${number}`, "198.51.100.7"));
    const refused = flood.map((one) => assert.rejects(one, isRefusal));
    await eventually(t.signal, async () => assert.equal(codes.length, limits.outgoingCallsPerUser));
    const signIn = assert.rejects(exchange("own", "192.0.2.1"), OpenIdRefused);
    const gone = assert.rejects(exchange("gone", "192.0.2.2", AbortSignal.abort()), ClientGone);
    await eventually(t.signal, async () => assert.ok(codes.includes("own")));
    assert.equal(codes.length, limits.outgoingCallsPerUser + 1);
    const ending = setInterval(answerNext, 1);
    t.after(() => clearInterval(ending));
    await Promise.all([...refused, signIn, gone]);
    assert.ok(!codes.includes("gone"));
    // Those of the flood that ran or waited, and one's own.
    assert.equal(codes.length, limits.outgoingCallsPerUser + limits.outgoingCallsWaitingPerUser + 1);
  });
});

function isRefusal(error: unknown): boolean {
  return error instanceof OpenIdRefused || error instanceof OpenIdUnavailable;
}

/** A provider that refuses each code, when the test says so. */
async function slowProvider(t: TestContext) {
  const codes: string[] = [];
  const open: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      const known = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      return response.end(JSON.stringify(known));
    }
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    codes.push(new URLSearchParams(body).get("code") ?? "");
    open.push(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outgoing = new OutgoingCalls({ timers: { after: () => () => undefined } });
  const provider = openIdProvider({ issuer, clientId: "console", clientSecret: "secret", outgoing });
  const checks = provider.newChecks();
  return {
    codes,
    answerNext: () => void open.shift()?.writeHead(400).end('{"error":"invalid_grant"}'),
    exchange(code: string, source: string, disconnected?: AbortSignal) {
      const query = new URLSearchParams({ code, state: checks.state });
      return provider.claims(`https://here.example/back?${query}`, checks, { source, disconnected });
    },
  };
}
