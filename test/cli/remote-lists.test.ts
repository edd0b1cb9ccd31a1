import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { administerAt } from "../../src/cli/remote/admin-service.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

const perPage = 200;

/** Lists the requests of a service that has this many pages. On the second one, a node is silent; the first one may be short. */
async function listed(t: TestContext, pages: number, input = {}, onFirst = perPage) {
  const server = createServer(({ url }, response) => {
    const page = Number(new URL(url!, "http://service.example").searchParams.get("cursor") ?? "0");
    const requests = Array.from({ length: page === 0 ? onFirst : perPage }, (_, at) => ({
      requestId: page * perPage + at,
    }));
    const silentNodes = page === 1 ? ["node-2"] : [];
    response.end(JSON.stringify({ requests, silentNodes, ...(page + 1 < pages && { cursor: String(page + 1) }) }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const messages: string[] = [];
  const err = { write: (text: string) => void messages.push(text) };
  const terminal = { environment: { BREEZEWAY_OPERATOR_TOKEN: "t" }, err } as unknown as Terminal;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = await administerAt(baseUrl, terminal, "request list", input);
  const { requests, silentNodes, cursor } = answer as {
    readonly requests: readonly object[];
    readonly silentNodes: readonly string[];
    readonly cursor?: string;
  };
  return { count: requests.length, silentNodes, cursor, messages: messages.join("") };
}

describe("a list of a service elsewhere", () => {
  it("is printed whole, with the nodes that were silent on any page", async (t) => {
    const { messages, ...answer } = await listed(t, 3);
    assert.deepEqual(answer, { count: 600, silentNodes: ["node-2"], cursor: undefined });
    assert.equal(messages, "");
  });

  it("says that it is cut, and where the rest begins", async (t) => {
    const { messages, ...answer } = await listed(t, 51);
    assert.deepEqual(answer, { count: 10_000, silentNodes: ["node-2"], cursor: "50" });
    assert.match(messages, /^Only the first 10,000 entries are listed\./);
  });

  it("loses no entry between its last one and the cursor, when pages had few entries", async (t) => {
    const { messages, ...answer } = await listed(t, 60, {}, 10);
    // 10 of the first page, and 200 of each other one before the cursor.
    assert.deepEqual(answer, { count: 10 + 50 * perPage, silentNodes: ["node-2"], cursor: "51" });
    assert.match(messages, /^Only the first 10,010 entries are listed\./);
  });

  it("ends silently at the number that was typed", async (t) => {
    const { messages, ...answer } = await listed(t, 3, { limit: "300" });
    assert.deepEqual(answer, { count: 300, silentNodes: ["node-2"], cursor: undefined });
    assert.equal(messages, "");
  });
});
