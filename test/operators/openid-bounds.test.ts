import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { OpenIdUnavailable } from "../../src/operators/openid/openid-errors.ts";
import { openIdProvider } from "../../src/operators/openid/provider.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { answerOf, startByteServer } from "../ecosystems/byte-server.ts";

const hostile: Readonly<Record<string, string>> = {
  "too many bytes": `"${"x".repeat(300_000)}"`,
  "too many values": `[${"1,".repeat(30_000)}1]`,
  "too much depth": "[".repeat(32) + "]".repeat(32),
};
const isTooLarge = (error: Error) =>
  error instanceof OpenIdUnavailable && /too many bytes, levels or values/.test(String(causes(error)));

function causes(error: unknown): readonly string[] {
  return error instanceof Error ? [error.message, ...causes(error.cause)] : [];
}

/** A provider whose answers have a filler: those to GET, or the others. */
async function startedProvider(t: TestContext, fills: "metadata" | "tokens", filler: string) {
  const server = await startByteServer(t, (socket, index) => {
    const isMetadata = server.requests[index]!.startsWith("GET");
    const issuer = server.url;
    const members = isMetadata
      ? { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
      : { access_token: "a", token_type: "bearer", id_token: "e30.e30.e30" };
    const isFilled = isMetadata === (fills === "metadata");
    const body = JSON.stringify({ ...members, filler: 1 }).replace(":1}", `:${isFilled ? filler : 1}}`);
    socket.end(answerOf(200, body, "Content-Type: application/json\r\n"));
  });
  return openIdProvider({
    issuer: server.url,
    clientId: "console",
    clientSecret: "secret",
    outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
  });
}

describe("an OpenID provider", () => {
  it("can't be read if it sends interim answers without end", async (t) => {
    const server = await startByteServer(t, (socket) => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)));
    const provider = openIdProvider({
      issuer: server.url,
      clientId: "console",
      clientSecret: "secret",
      outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
    });
    const reached = provider.authorizeUrl("http://console.example/", provider.newChecks());
    await assert.rejects(reached, (error) => causes(error).includes("The server sent too many interim answers."));
  });

  for (const [kind, filler] of Object.entries(hostile)) {
    it(`can't be read if its metadata has ${kind}, and nothing of it is parsed`, async (t) => {
      const provider = await startedProvider(t, "metadata", filler);
      const parse = t.mock.method(JSON, "parse");
      await assert.rejects(provider.authorizeUrl("http://console.example/", provider.newChecks()), isTooLarge);
      const parsed = parse.mock.calls.map(({ arguments: [text] }) => String(text));
      assert.deepEqual(
        parsed.filter((text) => text.includes("filler")),
        [],
      );
    });

    it(`signs nobody in if its tokens come with ${kind}`, async (t) => {
      const provider = await startedProvider(t, "tokens", filler);
      const checks = provider.newChecks();
      await provider.authorizeUrl("http://console.example/", checks);
      const answer = `http://console.example/?code=c&state=${checks.state}`;
      await assert.rejects(provider.claims(answer, checks, { source: "192.0.2.1" }), isTooLarge);
    });
  }
});
