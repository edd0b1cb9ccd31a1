import { auditEntry } from "../../identity/audit.ts";
import type { FailureTables } from "../../identity/failure-counts.ts";
import { defaultFailureLimits, failureCountsFor } from "../../identity/failure-limits.ts";
import { auditedOneByOne, isAudited } from "../../identity/sign-in.ts";
import { sourceOf } from "../../identity/source.ts";
import type { Store } from "../../store/seam.ts";
import type { OperatorTables } from "../tables.ts";
import type { Claims } from "./provider.ts";

export interface RefusalParts {
  readonly store: Store<OperatorTables & FailureTables>;
  /** This node's monotonic clock. */
  readonly elapsedMs: () => number;
  /** How people call the provider. */
  readonly label: string;
}

/** Audits a refused sign-in of a person whom the provider knows. */
export type RecordRefusal = (claims: Claims, source: string, reason: string) => Promise<void>;

/** As many entries as for wrong passwords. Nobody is delayed: there is no password to guess. */
export function refusalsOn({ store, elapsedMs, label }: RefusalParts): RecordRefusal {
  const counts = failureCountsFor("operator_openid", { store, elapsedMs });

  /** Counts a refusal; returns how many the source had before in this window. */
  async function count(subject: string, address: string): Promise<number> {
    const [source, { sourceWindowMs }] = [sourceOf(address), defaultFailureLimits];
    const { ofSource } = await counts.find(subject, source, subject);
    await counts.count(subject, source, defaultFailureLimits);
    return ofSource && ofSource.sinceFirstMs < sourceWindowMs ? ofSource.failures : 0;
  }

  return async ({ iss, sub }, source, reason) => {
    const subject = `${iss} ${sub}`;
    const before = await count(subject, source);
    if (!isAudited(before)) return;
    const failuresOfSource = before < auditedOneByOne ? undefined : before + 1;
    await store.transaction(async (tx) => {
      const operator = (await tx.operators.bySubject(subject))?.name;
      const detail = { by: label, subject: operator === undefined ? sub : undefined, reason, failuresOfSource };
      await tx.audit.add(auditEntry({ act: "operator_sign_in_failed", operator, source, detail }));
    });
  };
}
