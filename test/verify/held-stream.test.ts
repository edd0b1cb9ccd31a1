import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Deployment } from "../../verify/client/deployment.ts";

describe("a stream that verify opens", () => {
  it("ends when a proxy holds back the head of its answer", { timeout: 5_000 }, async (t) => {
    const url = await serverWith(t, () => undefined);
    const { signal } = new AbortController();
    const deployment = new Deployment(url, () => signal);
    await assert.rejects(deployment.open("/v3/events", {}, signal, 100), { name: "AbortError" });
  });

  it("goes on after that time when its head has arrived", async (t) => {
    const url = await serverWith(t, (answer) => {
      answer.writeHead(200).flushHeaders();
      setTimeout(() => answer.end("late"), 3_500);
    });
    const { signal } = new AbortController();
    const opened = await new Deployment(url, () => signal).open("/v3/events", {}, signal, 3_000);
    assert.equal(await opened.text(), "late");
  });
});

async function serverWith(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
