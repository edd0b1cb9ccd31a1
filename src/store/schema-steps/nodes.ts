import type { Step } from "./step.ts";

/** Questions between nodes, such as those for recent requests. Nodes that don't know this step don't answer. */
export const nodeQuestions: Step = ({ integer }) => [
  `CREATE TABLE node_questions (
     id TEXT PRIMARY KEY, topic TEXT NOT NULL, question TEXT NOT NULL, asker TEXT NOT NULL, asked_ms ${integer} NOT NULL)`,
  `CREATE TABLE node_answers (
     question_id TEXT NOT NULL, node_id TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (question_id, node_id))`,
];
