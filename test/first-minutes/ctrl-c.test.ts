import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { demoFolder } from "../demo/running-demo.ts";
import { type AtTerminal, atTerminal, ctrlC, skip } from "./terminal.ts";

describe("Ctrl-C at the demo's terminal, with streams open", { skip }, () => {
  it("once ends it within five seconds, with exit code 0 and nothing said", { timeout: 60_000 }, async (t) => {
    const { demo, streams } = await demoWithStreams(t);
    await t.test("in time", { timeout: 5_000 }, async () => {
      demo.press(ctrlC);
      const { code, shown } = await demo.ended;
      assert.equal(code, 0);
      assert.match(shown, /breezeway listening on \S+\r\n\^C(\r\n)?$/);
      for (const stream of streams) assert.match(await stream, /^(id|event|data|retry|:)/m);
    });
  });

  it("twice ends it at once, though a request is still under way", { timeout: 60_000 }, async (t) => {
    const { demo, streams, baseUrl, headers } = await demoWithStreams(t);
    const sent = request(`${baseUrl}/v3/devices/2`, {
      method: "PUT",
      headers: { ...headers, "content-type": "application/json", "content-length": "20", expect: "100-continue" },
    });
    const isCutOff = new Promise((resolve) => sent.once("error", resolve));
    // The service has read the head of it, and waits for a body that never comes.
    await new Promise((resolve) => {
      sent.once("continue", resolve);
      sent.flushHeaders();
    });
    demo.press(ctrlC);
    await Promise.all(streams);
    demo.press(ctrlC);
    assert.equal((await demo.ended).code, 130);
    await isCutOff;
  });
});

async function demoWithStreams(t: TestContext) {
  const folder = demoFolder(t);
  const demo: AtTerminal = atTerminal(t, "demo", { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" });
  const [, baseUrl = ""] = await demo.shows(/breezeway listening on (\S+)\r\n/);
  const headers = { authorization: `Bearer ${readFileSync(join(folder, "demo-access-token"), "utf8")}` };
  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${baseUrl}/v3/events`, { headers })));
  for (const { status } of answers) assert.equal(status, 200);
  // A stream that was cut off, and not ended, fails here.
  return { demo, baseUrl, headers, streams: answers.map((answer) => answer.text()) };
}
