import type { Faults } from "./faults.ts";
import type { CommittedTransaction, RenewalCall } from "./history.ts";
import { userOf } from "./tokens.ts";

/** Counts what alerts did in a run. */
export function countFirings(history: readonly CommittedTransaction[], faults: Faults): void {
  for (const { log, writes } of history) {
    const firings = log.filter(({ kind }) => kind === "alert" || kind === "thingAlert");
    for (const { kind, body } of firings) {
      faults.count(kind === "alert" ? "alert fired" : "alert on a thing fired");
      if (body.includes("stopped at the limit")) faults.count("chain of alerts stopped");
      const { thingId } = JSON.parse(body) as { readonly thingId?: string };
      const isGone = writes.some(({ table, key, after }) => {
        return table.startsWith("things/") && key === thingId && typeof after?.goneMs === "number";
      });
      if (isGone) faults.count("alert on a gone thing fired");
    }
    for (const { table, before, after } of firings.length > 0 ? writes : []) {
      const isAlert = table.startsWith("triggers/") || table.startsWith("thing triggers/");
      if (!isAlert || !before?.isEnabled) continue;
      if (!after) faults.count("alert deleted by itself");
      else if (!after.isEnabled) faults.count("alert disabled by itself");
    }
  }
}

/** Counts the renewals during which the link passed to another node, or was removed. */
export function countLostRenewals(
  calls: readonly RenewalCall[],
  history: readonly CommittedTransaction[],
  faults: Faults,
): void {
  for (const { node, refreshToken, seq, toMs } of calls) {
    const during = history.slice(seq).filter(({ atMs }) => atMs <= toMs);
    const isLost = during.some(({ writes }) =>
      writes.some(({ table, before, after }) => {
        return table === "links" && before?.userId === userOf(refreshToken) && after?.owner !== node;
      }),
    );
    if (isLost) faults.count("link lost in a renewal");
  }
}
