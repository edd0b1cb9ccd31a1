import type { AssistantDelivery } from "../store/tables/assistant-deliveries.ts";

/** Reports that were not taken, counted by the maker's error code. */
export interface ReportErrors {
  readonly code: string;
  readonly count: number;
}

/** The end of the text of every attempt that the maker answered: the status and, if it gave one, its error code. */
const answered = /\banswered (\d{3})(?: ([A-Za-z_]+))?$/;

/** The most frequent first. */
export function errorsByCode(
  outcomes: readonly (Pick<AssistantDelivery, "outcome" | "status" | "text"> & { readonly count: number })[],
): readonly ReportErrors[] {
  const counts = new Map<string, number>();
  for (const { outcome, status, text, count } of outcomes) {
    if (outcome === "taken") continue;
    const code = codeOf(status, text);
    counts.set(code, (counts.get(code) ?? 0) + count);
  }
  return [...counts]
    .map(([code, count]) => ({ code, count }))
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}

/** The maker's code; without one the HTTP status, and without a status what happened, in our words. */
function codeOf(status: number | null, text: string | null): string {
  const [, shown, code] = answered.exec(text ?? "") ?? [];
  if (code !== undefined) return code;
  const known = shown ?? status;
  return known === null ? (text ?? "no answer") : `HTTP ${known}`;
}
