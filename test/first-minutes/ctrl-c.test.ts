import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { demoFolder } from "../demo/running-demo.ts";
import { type AtTerminal, atTerminal, ctrlC, skip } from "./terminal.ts";

describe("Ctrl-C at the demo's terminal, with streams and a request under way", { skip }, () => {
  it("once finishes what is under way and ends, within five seconds, with exit code 0 and nothing said", {
    timeout: 60_000,
  }, async (t) => {
    const { demo, streams, write } = await demoWithStreams(t);
    await t.test("in time", { timeout: 5_000 }, async () => {
      demo.press(ctrlC);
      for (const stream of streams) assert.match(await stream, /^event: heartbeat$/m);
      write.end('{"power":"dimmed"}');
      const [answer] = await once(write, "response");
      assert.equal(answer.statusCode, 200);
      const { code, shown } = await demo.ended;
      assert.equal(code, 0);
      assert.match(shown, /breezeway listening on \S+\r\n\^C(\r\n)?$/);
    });
  });

  it("twice ends it at once", { timeout: 60_000 }, async (t) => {
    const { demo, streams, write } = await demoWithStreams(t);
    const isCutOff = once(write, "response").then(
      () => false,
      () => true,
    );
    demo.press(ctrlC);
    await Promise.all(streams);
    demo.press(ctrlC);
    assert.equal((await demo.ended).code, 130);
    assert.equal(await isCutOff, true);
  });
});

async function demoWithStreams(t: TestContext) {
  const folder = demoFolder(t);
  const demo: AtTerminal = atTerminal(t, "demo", { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" });
  const [, baseUrl = ""] = await demo.shows(/breezeway listening on (\S+)\r\n/);
  const headers = { authorization: `Bearer ${readFileSync(join(folder, "demo-access-token"), "utf8")}` };
  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${baseUrl}/v3/events`, { headers })));
  for (const { status } of answers) assert.equal(status, 200);
  const write = request(`${baseUrl}/v3/devices/2`, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json", "content-length": "18", expect: "100-continue" },
  });
  // The service has its head, and waits for the rest.
  const isHeard = once(write, "continue");
  write.flushHeaders();
  await isHeard;
  // A stream that is cut off, and not ended, fails here.
  return { demo, write, streams: answers.map((answer) => answer.text()) };
}
