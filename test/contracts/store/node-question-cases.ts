import assert from "node:assert/strict";
import { it } from "node:test";
import { onStore, type StoreHarness } from "./harness.ts";
import { node } from "./home.ts";

export function nodeQuestionCases(harness: StoreHarness): void {
  it("bring a question to all other nodes, and their answers back", () =>
    onStore(harness, async (store) => {
      const question = { id: "q1", topic: "requests", question: "{}" };
      await store.transaction((tx) => tx.nodeQuestions.ask(question, node("A"), 60_000));
      const unanswered = (id: string) => plain(store.read((tx) => tx.nodeQuestions.unanswered(node(id), 60_000)));
      assert.deepEqual(await unanswered("A"), [], "the asker does not ask itself");
      assert.deepEqual(await unanswered("B"), [question]);
      await store.transaction((tx) => tx.nodeQuestions.answer("q1", node("B"), "one"));
      await store.transaction((tx) => tx.nodeQuestions.answer("q1", node("B"), "twice"));
      await store.transaction((tx) => tx.nodeQuestions.answer("q1", node("C"), "two"));
      assert.deepEqual(await unanswered("B"), []);
      const answers = () => plain(store.read((tx) => tx.nodeQuestions.answersTo("q1")));
      assert.deepEqual(await answers(), [
        { node: "B", answer: "one" },
        { node: "C", answer: "two" },
      ]);
      await store.transaction((tx) => tx.nodeQuestions.remove("q1"));
      assert.deepEqual([await answers(), await unanswered("D")], [[], []]);
      await store.transaction((tx) => tx.nodeQuestions.answer("q1", node("D"), "too late"));
      assert.deepEqual(await answers(), []);
    }));

  it("forget questions that nobody waits for any more", () =>
    onStore(harness, async (store, database) => {
      const ask = (id: string) =>
        store.transaction((tx) => tx.nodeQuestions.ask({ id, topic: "t", question: "?" }, node("A"), 60_000));
      await ask("old");
      await store.transaction((tx) => tx.nodeQuestions.answer("old", node("B"), "an answer"));
      await database.sql("UPDATE node_questions SET asked_ms = 1 WHERE id = 'old'");
      assert.deepEqual(await store.read((tx) => tx.nodeQuestions.unanswered(node("C"), 60_000)), []);
      await ask("new");
      assert.deepEqual(await store.read((tx) => tx.nodeQuestions.answersTo("old")), []);
      const left = await store.read((tx) => tx.nodeQuestions.unanswered(node("C"), Number.MAX_SAFE_INTEGER));
      assert.deepEqual(
        left.map(({ id }) => id),
        ["new"],
      );
    }));
}

/** Rows of SQLite have no prototype. */
async function plain<Row extends object>(rows: Promise<Row[]>): Promise<Row[]> {
  return (await rows).map((row) => ({ ...row }));
}
