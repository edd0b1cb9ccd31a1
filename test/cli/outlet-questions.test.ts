import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { addOutlet } from "../../src/cli/nouns/outlet/outlet-add.ts";
import { directiveInShort, directiveInWords } from "../../src/cli/nouns/outlet/outlet-health.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import { lastDirective } from "../../src/outlets/console/pages/assistant-health.ts";

/** Types one answer after each question. */
function typing(answers: readonly string[], isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const asked: string[] = [];
  const left = [...answers];
  const err = {
    isTTY,
    write(text: string) {
      if (!text.endsWith(": ")) return;
      asked.push(text);
      if (!input.writableEnded) setImmediate(() => input.write(`${left.shift() ?? ""}\n`));
    },
  };
  const terminal = {
    environment: {},
    build: { version: "1", commit: "unknown", schema: 1 },
    input,
    out: err,
    err,
  } as unknown as Terminal;
  return { terminal, asked };
}

describe("breezeway outlet add", () => {
  it("asks on a terminal for what the maker's console shows and was not typed", async () => {
    const { terminal, asked } = typing(["amzn1.ask.skill.1", "amzn1.application-oa2-client.1", "secret"]);
    const typed = { kind: "alexa", tenant: "Acme", "vendor-id": "M2" };
    assert.deepEqual(await addOutlet.extraInput!(typed, terminal), {
      settings: {
        "skill-id": "amzn1.ask.skill.1",
        "vendor-id": "M2",
        "messaging-client-id": "amzn1.application-oa2-client.1",
        "messaging-client-secret": "secret",
      },
    });
    assert.equal(asked.length, 3);
    assert.match(asked[0]!, /^The id of the skill, from the list of skills in the Alexa developer console: $/);
  });

  it("ends when the person ends the input instead of an answer", async () => {
    const { terminal, asked } = typing([]);
    (terminal.input as unknown as PassThrough).end();
    await assert.rejects(async () => addOutlet.extraInput!({ kind: "google-home" }, terminal), /The input ended/);
    assert.equal(asked.length, 1);
  });

  it("asks nothing without a terminal", async () => {
    const { terminal, asked } = typing([], false);
    const environment = { BREEZEWAY_MESSAGING_CLIENT_SECRET: "secret" };
    const { settings } = (await addOutlet.extraInput!({ kind: "alexa" }, { ...terminal, environment })) as {
      readonly settings: object;
    };
    assert.deepEqual([settings, asked], [{ "messaging-client-secret": "secret" }, []]);
  });
});

describe("the last message of an assistant", () => {
  const nowMs = Date.now();
  const time = new Date(nowMs).toISOString();
  const last = { time, name: "EXECUTE", error: null };
  const health = { lastDirective: last, directivesSince: time, reportLagMs: 0, errors: [] };

  it("is well only when every node has answered", () => {
    assert.match(lastDirective(health, nowMs).text, /class="state good"/);
    assert.doesNotMatch(directiveInWords(health), /not every node/);
    const silent = { ...health, directivesSince: null };
    const shown = lastDirective(silent, nowMs).text;
    assert.match(shown, /answered.*not every node has answered/s);
    assert.doesNotMatch(shown, /class="state good"/);
    assert.match(directiveInWords(silent), /^EXECUTE, answered, .*; not every node has answered$/);
  });

  it("is none since all nodes have been up, or unknown", () => {
    const none = { ...health, lastDirective: null };
    const unknown = { ...none, directivesSince: null };
    assert.equal(directiveInWords(none), `none since all nodes have been up: ${time}`);
    assert.match(directiveInWords(unknown), /^unknown/);
    assert.deepEqual([none, unknown].map(directiveInShort), ["-", "unknown"]);
  });
});
