import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

/**
 * Why a grant can't be refreshed because of its terms; undefined when it can. Only a new authorization helps, in which
 * the user accepts the terms. Nothing ends: the same token works again if the operator moves the date.
 */
export async function missingTerms(
  tx: Pick<Transaction, "tenants">,
  { tenantId, termsMs }: GrantRow,
  nowMs: number,
): Promise<string | undefined> {
  const { requiredTermsMs, termsDeadlineMs } = await tx.tenants.termsRequirement(tenantId);
  if (requiredTermsMs === null || termsDeadlineMs === null || nowMs < termsDeadlineMs) return undefined;
  if ((termsMs ?? 0) >= requiredTermsMs) return undefined;
  return "The terms have changed, and the user has not accepted the new ones. Send the user through authorization again.";
}
