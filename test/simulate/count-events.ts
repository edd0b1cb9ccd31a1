import { userOf } from "./actors/tokens.ts";
import type { CommittedTransaction, RenewalCall } from "./checks/history.ts";
import type { Faults } from "./faults.ts";

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

/** Counts what became of commands to own things, and which of these fell silent. */
export function countOwnThings(history: readonly CommittedTransaction[], faults: Faults): void {
  for (const { log } of history) {
    for (const { kind, body } of log) {
      if (kind === "thing" && body.includes('"what":"state"') && body.includes("t_own_"))
        faults.count("own thing silent");
      if (kind !== "thingCommand" || !body.includes("t_own_")) continue;
      const { state, alert } = JSON.parse(body) as { readonly state: string; readonly alert?: number };
      if (state === "confirmed" || state === "contradicted" || state === "expired")
        faults.count(`own command ${state}`);
      if (state === "sending" && alert !== undefined) faults.count("own thing commanded by an alert");
    }
  }
}
