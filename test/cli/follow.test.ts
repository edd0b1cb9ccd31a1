import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Api } from "../../src/cli/remote/api.ts";
import { follow } from "../../src/cli/remote/follow.ts";
import { ServiceRefused, Unreachable } from "../../src/cli/remote/service-errors.ts";
import type { Printer } from "../../src/cli/terminal/output.ts";

type Connection = (response: ServerResponse) => void;

/** A stream with these events, which then breaks. */
const events =
  (...ids: readonly string[]): Connection =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const named = (id: string) => (id.includes("beat") ? "heartbeat" : "attribute");
    const data = (id: string) => JSON.stringify({ everySeconds: 2, ...(id.includes("old") && { catchingUp: true }) });
    const frames = ids.map((id) => `id: ${id}\nevent: ${named(id)}\ndata: ${data(id)}\n\n`);
    response.write(frames.join(""), () => response.destroy());
  };

const refusing =
  (status: number, error: string, error_description: string): Connection =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ error, error_description }));

const refusal = refusing(401, "invalid_token", "The access token is not valid.");

/** A service that serves these connections one after the other. */
async function scripted(t: TestContext, connections: readonly Connection[]) {
  const lastEventIds: (string | undefined)[] = [];
  const printed: string[] = [];
  const server = createServer(({ headers }, response) => {
    const lastEventId = headers["last-event-id"] as string | undefined;
    connections[lastEventIds.push(lastEventId) - 1]?.(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const api = new Api({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextStep: "Sign in.",
    current: async () => "t",
    renewed: async () => undefined,
    secToken: async () => "s",
  });
  const print = { words: (text: string) => void printed.push(text) } as Printer;
  /** The ids of the events until the service refuses. */
  const eventIds = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    await assert.rejects(async () => {
      for await (const { id, type } of follow(api, {}, print)) if (type === "attribute") ids.push(id);
    }, ServiceRefused);
    return ids;
  };
  return { api, print, lastEventIds, printed, eventIds };
}

describe("following the events of a service", () => {
  it("is not live while the stream catches up, and resumes where it was", async (t) => {
    const { eventIds, lastEventIds, printed } = await scripted(t, [
      events("1", "beat-2"),
      events("old-beat-3", "4", "old-beat-5"),
      events("old-beat-6", "7", "beat-8"),
      refusal,
    ]);
    assert.deepEqual(await eventIds(), ["1", "4", "7"]);
    assert.deepEqual(lastEventIds, [undefined, "beat-2", "old-beat-5", "beat-8"]);
    assert.deepEqual(
      printed.map((words) => words.split(/ since|:/)[0]),
      ["Not live", "Live again", "Not live"],
    );
  });

  it("resumes after the last event or heartbeat of a lost connection, until the service refuses", async (t) => {
    const { eventIds, lastEventIds, printed } = await scripted(t, [events("1", "2", "beat-3"), events("4"), refusal]);
    assert.deepEqual(await eventIds(), ["1", "2", "4"]);
    assert.deepEqual(lastEventIds, [undefined, "beat-3", "4"]);
    assert.equal(printed.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("tries again after a 503, and ends at any other refusal", async (t) => {
    const down = refusing(503, "store_unavailable", "The store can't be reached.");
    const { eventIds, printed } = await scripted(t, [
      events("1"),
      down,
      events("2"),
      refusing(429, "too_many_requests", "Wait."),
    ]);
    assert.deepEqual(await eventIds(), ["1", "2"]);
    assert.equal(printed.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("reports at once why the first connection failed", async (t) => {
    const refused = await scripted(t, [refusal]);
    assert.deepEqual([await refused.eventIds(), refused.printed], [[], []]);
    const broken = await scripted(t, [(response) => response.destroy()]);
    await assert.rejects(follow(broken.api, {}, broken.print).next(), Unreachable);
    assert.deepEqual([broken.lastEventIds.length, broken.printed], [1, []]);
  });
});
