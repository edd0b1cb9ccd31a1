import type { NodeId } from "../model/ids.ts";
import type { NodeQuestions } from "../nodes/node-questions.ts";
import type { RecentRequests } from "./recent-requests.ts";
import { type FoundRequest, matches, newest, type RequestFilter, type RequestRecord } from "./request-record.ts";

export interface FoundRequests {
  /** Newest first. */
  readonly requests: readonly FoundRequest[];
  /** The nodes whose records are included. Each remembers only requests since its start. */
  readonly nodes: readonly NodeId[];
  /** Nodes that did not answer in time: their requests are missing. */
  readonly silentNodes: readonly NodeId[];
}

/** Reads the recent requests of all nodes. */
export interface RequestSearch {
  find(filter: RequestFilter, limit: number): Promise<FoundRequests>;
}

export const mostFound = 500;

const topic = "requests";

interface Question {
  readonly filter: RequestFilter;
  readonly limit: number;
}

export function requestSearch(recent: Pick<RecentRequests, "find">, nodes: NodeQuestions): RequestSearch {
  nodes.onQuestion(topic, (text) => {
    const { filter, limit } = JSON.parse(text) as Question;
    return JSON.stringify(recent.find(filter, Math.min(limit, mostFound)));
  });
  return {
    async find(filter, limit) {
      const question: Question = { filter, limit };
      const { answers, silentNodes } = await nodes.ask(topic, JSON.stringify(question));
      const found = [...answers].flatMap(([node, text]) =>
        (JSON.parse(text) as RequestRecord[]).map((record) => ({ ...record, node })),
      );
      // A node of the version before does not know every member of the filter.
      const meant = found.filter((record) => matches(record, filter));
      return { requests: newest(meant, limit), nodes: [...answers.keys()], silentNodes };
    },
  };
}
