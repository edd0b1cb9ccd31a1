import type { NodeId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";

/** A question that one node asks all others. Question and answers are text that belongs to the topic. */
export interface NodeQuestionRow {
  readonly id: string;
  readonly topic: string;
  readonly question: string;
}

/** Questions between nodes and their answers. Both live for a few seconds. */
export interface NodeQuestionTable {
  /** Adds a question, and removes those that are older than `keptMs` with their answers. */
  ask(question: NodeQuestionRow, asker: NodeId, keptMs: number): Promise<void>;
  /** Questions of other nodes that this node has not answered, not older than `keptMs`. */
  unanswered(node: NodeId, keptMs: number): Promise<NodeQuestionRow[]>;
  /** Stores an answer unless the question was removed. */
  answer(questionId: string, node: NodeId, answer: string): Promise<void>;
  answersTo(questionId: string): Promise<{ readonly node: NodeId; readonly answer: string }[]>;
  /** Removes a question with its answers. */
  remove(questionId: string): Promise<void>;
}

export function nodeQuestionTable(sql: Sql): NodeQuestionTable {
  const removeWhere = async (condition: string, parameter: string | number) => {
    const removed = `SELECT id FROM node_questions WHERE ${condition}`;
    await sql.run(`DELETE FROM node_answers WHERE question_id IN (${removed})`, [parameter]);
    await sql.run(`DELETE FROM node_questions WHERE ${condition}`, [parameter]);
  };
  return {
    async ask({ id, topic, question }, asker, keptMs) {
      const nowMs = await sql.nowMs();
      await removeWhere("asked_ms < $1", nowMs - keptMs);
      await sql.run("INSERT INTO node_questions (id, topic, question, asker, asked_ms) VALUES ($1, $2, $3, $4, $5)", [
        id,
        topic,
        question,
        asker,
        nowMs,
      ]);
      sql.hint("questions");
    },
    unanswered: async (node, keptMs) =>
      sql.all<NodeQuestionRow>(
        `SELECT q.id, q.topic, q.question FROM node_questions q WHERE q.asked_ms >= $2 AND q.asker <> $1
         AND NOT EXISTS (SELECT 1 FROM node_answers a WHERE a.question_id = q.id AND a.node_id = $1)
         ORDER BY q.asked_ms, q.id`,
        [node, (await sql.nowMs()) - keptMs],
      ),
    async answer(questionId, node, answer) {
      await sql.run(
        `INSERT INTO node_answers (question_id, node_id, answer)
         SELECT id, $2, $3 FROM node_questions WHERE id = $1 ON CONFLICT (question_id, node_id) DO NOTHING`,
        [questionId, node, answer],
      );
    },
    answersTo: (questionId) =>
      sql.all(`SELECT node_id AS node, answer FROM node_answers WHERE question_id = $1 ORDER BY node_id`, [questionId]),
    remove: (questionId) => removeWhere("id = $1", questionId),
  };
}
