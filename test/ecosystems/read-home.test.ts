import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { inspect } from "node:util";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { readSnapshot } from "../../src/ecosystems/nest/snapshot.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { answerOf, startByteServer } from "./byte-server.ts";
import { makeDocument } from "./made-documents.ts";

const token = "c.TestToken123";

describe("a Nest account read once", () => {
  it("is the whole document", async (t) => {
    const { connector, server, signal } = await answering(t, answerOf(200, JSON.stringify(makeDocument())));
    assert.deepEqual(await connector.read(token, signal), readSnapshot(makeDocument()));
    assert.match(server.requests[0] ?? "", /^accept: application\/json\r$/im);
    assert.match(server.requests[0] ?? "", /^authorization: Bearer c\.TestToken123\r$/im);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("may be as large as two full homes, and larger", async (t) => {
    const document = makeDocument({ padding: "x".repeat(2_000_000) });
    const { connector, signal } = await answering(t, answerOf(200, JSON.stringify(document)));
    assert.deepEqual(await connector.read(token, signal), readSnapshot(makeDocument()));
  });

  it("is refused when the token is", async (t) => {
    const { connector, signal } = await answering(t, answerOf(401, `{"error":"${token}"}`));
    await assert.rejects(connector.read(token, signal), isQuiet(EcosystemRefused));
    await assert.rejects(connector.read(`${token}\r\nX: y`, signal), isQuiet(EcosystemRefused));
  });

  const failures: [string, string | undefined][] = [
    ["403", answerOf(403, token)],
    ["429", answerOf(429, token, "Retry-After: 60\r\n")],
    ["500", answerOf(500, token)],
    ["no answer", ""],
    ["an answer that isn't HTTP", `${token}\r\n\r\n`],
    ["an answer that breaks off", answerOf(200, `{"x":"${token}"}`).slice(0, -2)],
    ["text that isn't JSON", answerOf(200, `<html>${token}`)],
    ["an empty text", answerOf(200, "")],
    ["a text that is too large", answerOf(200, `"${"x".repeat(2_200_000)}"`)],
    ["great depth", answerOf(200, "[".repeat(10_000) + "]".repeat(10_000))],
    ["no answer in time", undefined],
    ["a body that doesn't end in time", answerOf(200, "{}").replace("Content-Length: 2", "Content-Length: 3")],
  ];
  for (const [what, bytes] of failures) {
    it(`is unreachable after ${what}`, async (t) => {
      const { connector, signal } = await answering(t, bytes, {
        isHeldOpen: what.endsWith("in time"),
        answerLimitMs: 300,
      });
      await assert.rejects(connector.read(token, signal), isQuiet(EcosystemUnreachable));
      assert.deepEqual(getEventListeners(signal, "abort"), []);
    });
  }

  it("is unreachable when it is stopped", async (t) => {
    const controller = new AbortController();
    const server = await startByteServer(t, () => controller.abort());
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    await assert.rejects(connector.read(token, controller.signal), isQuiet(EcosystemUnreachable));
    await assert.rejects(connector.read(token, controller.signal), isQuiet(EcosystemUnreachable));
    assert.equal(server.requests.length, 1);
  });
});

async function answering(
  t: TestContext,
  bytes: string | undefined,
  how: { isHeldOpen?: boolean; answerLimitMs?: number } = {},
) {
  const { isHeldOpen = false, ...limits } = how;
  const server = await startByteServer(t, (socket) => {
    if (bytes !== undefined) socket.write(bytes);
    if (!isHeldOpen) socket.end();
  });
  const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], ...limits });
  return { server, connector, signal: new AbortController().signal };
}

/** Matches an error of that class that doesn't contain the token. */
function isQuiet(kind: typeof EcosystemRefused | typeof EcosystemUnreachable) {
  return (error: unknown) => {
    assert.ok(error instanceof kind, inspect(error));
    assert.doesNotMatch(
      inspect(error, { depth: null, showHidden: true }).replaceAll(import.meta.filename, ""),
      /TestToken/i,
    );
    return true;
  };
}
