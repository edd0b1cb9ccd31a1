import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LastDirectives } from "../../src/assistants/last-directives.ts";
import { UnknownThing } from "../../src/model/errors.ts";

type Answer = (question: string) => string;

/** Nodes that ask each other, and a clock. */
function deployment() {
  const topics = new Map<string, Answer>();
  const silent = new Set<string>();
  let nowMs = 1_000;
  const node = (name: string) =>
    new LastDirectives(() => nowMs, {
      onQuestion: (_topic, answer) => void topics.set(name, answer),
      ask: async (_topic, question) => ({
        answers: new Map([...topics].filter(([id]) => !silent.has(id)).map(([id, answer]) => [id, answer(question)])),
        silentNodes: [...silent],
      }),
    });
  return {
    node,
    silent,
    at: (ms: number) => {
      nowMs = ms;
    },
  };
}

const answered = () => null;

describe("the last directive of an outlet", () => {
  it("is the newest one of all nodes, with its name and the error of its answer", async () => {
    const { node, at } = deployment();
    const [first, second] = [node("first"), node("second")];
    at(2_000);
    await first.during(
      "bwo_1",
      "EXECUTE",
      () => "offline",
      async () => "answer",
    );
    at(3_000);
    assert.equal(await second.during("bwo_1", "QUERY", answered, async () => "answer"), "answer");
    at(4_000);
    await first.during(
      "bwo_2",
      "Alexa.PowerController TurnOn",
      () => "NO_SUCH_ENDPOINT",
      async () => "answer",
    );
    const found = await first.find(["bwo_1", "bwo_2", "bwo_3"]);
    assert.deepEqual(found.get("bwo_1"), { last: { timeMs: 3_000, name: "QUERY", error: null }, sinceMs: 1_000 });
    const turnedOn = { timeMs: 4_000, name: "Alexa.PowerController TurnOn", error: "NO_SUCH_ENDPOINT" };
    assert.deepEqual(found.get("bwo_2")?.last, turnedOn);
    assert.deepEqual(found.get("bwo_3"), { last: undefined, sinceMs: 1_000 });
  });

  it("is known since the last start of a node, and not at all while a node is silent", async () => {
    const { node, at, silent } = deployment();
    const first = node("first");
    at(5_000);
    node("second");
    assert.deepEqual((await first.find(["bwo_1"])).get("bwo_1"), { last: undefined, sinceMs: 5_000 });
    silent.add("second");
    assert.deepEqual((await first.find(["bwo_1"])).get("bwo_1"), { last: undefined, sinceMs: undefined });
    assert.deepEqual(await first.find([]), new Map());
  });

  it("keeps the code of an error that was thrown, and throws it", async () => {
    const first = deployment().node("first");
    const lastError = async () => (await first.find(["bwo_1"])).get("bwo_1")?.last?.error;
    await assert.rejects(first.during("bwo_1", "SYNC", answered, () => Promise.reject(new UnknownThing())));
    assert.equal(await lastError(), "unknown_thing");
    await assert.rejects(
      first.during("bwo_1", "SYNC", answered, () => Promise.reject(new Error("secret"))),
      /secret/,
    );
    assert.equal(await lastError(), "failed");
  });

  it("keeps no name that is none, since it could hold anything", async () => {
    const first = deployment().node("first");
    for (const name of ["Bearer ya29.token/with+signs", "x".repeat(81), "<b>", ""]) {
      await first.during("bwo_1", name, answered, async () => "answer");
      assert.equal((await first.find(["bwo_1"])).get("bwo_1")?.last?.name, "unknown");
    }
  });

  it("is forgotten for the outlet that was silent longest when there are more than a thousand", async () => {
    const first = deployment().node("first");
    for (const outlet of [...Array.from({ length: 1_000 }, (_, at) => `bwo_${at}`), "bwo_0", "bwo_new"]) {
      await first.during(outlet, "SYNC", answered, async () => "answer");
    }
    const found = await first.find(["bwo_0", "bwo_1", "bwo_new"]);
    assert.deepEqual(
      [...found.values()].map(({ last }) => last?.name),
      ["SYNC", undefined, "SYNC"],
    );
  });
});
