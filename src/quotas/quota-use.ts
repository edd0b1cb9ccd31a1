import type { NodeId } from "../model/ids.ts";
import type { NodeQuestions } from "../nodes/node-questions.ts";
import type { QuotaOwner } from "./quota-settings.ts";
import type { Quotas, QuotaUse } from "./quotas.ts";

export interface QuotaUseOverNodes {
  readonly nodes: readonly ({ readonly node: NodeId } & QuotaUse)[];
  /** Nodes that did not answer in time. */
  readonly silentNodes: readonly NodeId[];
}

/** Reads how much of its quotas an owner uses, on each node. */
export type FindQuotaUse = (owner: QuotaOwner) => Promise<QuotaUseOverNodes>;

const topic = "quota use";

export function quotaUse(quotas: Pick<Quotas, "useOf">, nodes: NodeQuestions): FindQuotaUse {
  nodes.onQuestion(topic, (text) => JSON.stringify(quotas.useOf(JSON.parse(text) as QuotaOwner)));
  return async ({ tenantId, clientId }) => {
    const { answers, silentNodes } = await nodes.ask(topic, JSON.stringify({ tenantId, clientId }));
    return { nodes: [...answers].map(([node, text]) => ({ node, ...(JSON.parse(text) as QuotaUse) })), silentNodes };
  };
}
