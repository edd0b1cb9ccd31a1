import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Api, ServiceRefused } from "../../src/cli/remote/api.ts";
import { follow } from "../../src/cli/remote/follow.ts";
import type { Printer } from "../../src/cli/terminal/output.ts";

/** A service whose connections are these, one after the other; what it was asked to go on behind is kept. */
function scripted(connections: readonly (readonly string[] | Error)[]) {
  const asked: (string | undefined)[] = [];
  const said: string[] = [];
  const api = {
    baseUrl: "http://there",
    enterAgain: async () => undefined,
    async *events(_: object, lastEventId: string | undefined) {
      const connection = connections[asked.push(lastEventId) - 1];
      if (!Array.isArray(connection)) throw connection;
      for (const id of connection) yield { id, event: id.includes("beat") ? "heartbeat" : "attribute", data: "{}" };
      throw new TypeError("terminated");
    },
  } as unknown as Api;
  const print = { words: (text: string) => void said.push(text) } as Printer;
  return { api, print, asked, said };
}

async function told(script: ReturnType<typeof scripted>): Promise<readonly string[]> {
  const ids: string[] = [];
  const happenings = follow(script.api, {}, script.print);
  await assert.rejects(async () => {
    for await (const { id, type } of happenings) if (type !== "connected" && type !== "lost") ids.push(id);
  }, ServiceRefused);
  return ids;
}

describe("following what happens", () => {
  const over = new ServiceRefused(401, "invalid_token", "The access token is not valid.");

  it("goes on behind the last event that it heard, heartbeats included, until it is refused", async () => {
    const script = scripted([["1", "2", "beat-3"], ["4"], over]);
    assert.deepEqual(await told(script), ["1", "2", "4"]);
    assert.deepEqual(script.asked, [undefined, "beat-3", "4"]);
    assert.equal(script.said.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("says at once why it was never let in", async () => {
    const script = scripted([over]);
    assert.deepEqual([await told(script), script.said], [[], []]);
  });
});
