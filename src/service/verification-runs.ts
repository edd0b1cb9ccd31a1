import { randomBytes } from "node:crypto";
import type { Report } from "../../verify/report/report.ts";
import type {
  BegunVerification,
  ReportedVerification,
  Verification,
  Verifications,
} from "../cli/administration/verifications.ts";
import { Conflict } from "../model/errors.ts";
import type { Logger as ReportToLog } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";

type Tx = Pick<Transaction, "settings" | "clock">;

export interface VerificationRunParts {
  readonly store: Store<Tx>;
  readonly log: Pick<ReportToLog, "warn">;
}

/** More than any run takes. A run without an end after this time belonged to a node that was killed. */
const longestRunMs = 5 * 60_000;
const mostStored = 10;
/** The texts of a report quote answers of the deployment, which may be long. */
const longestText = 1_000;

/** The list is one setting and the rows of each report another one, so that the page with the list reads no rows. */
const listName = "verifications";
const rowsName = (slot: number) => `verification_rows_${slot}`;

interface Stored extends Verification {
  /** The number of the setting that has the rows. */
  readonly slot: number;
}

/** Stores the last runs of `breezeway verify`, and runs it when an operator asks for it. */
export class VerificationRuns implements Verifications {
  readonly #parts: VerificationRunParts;
  readonly #stopping = new AbortController();
  #underWay: Promise<void> | undefined;

  constructor(parts: VerificationRunParts) {
    this.#parts = parts;
  }

  list(): Promise<readonly Verification[]> {
    return this.#parts.store.read(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      return (await storedList(tx)).map((one) => shown(one, nowMs));
    });
  }

  find(verificationId: string): Promise<ReportedVerification | undefined> {
    return this.#parts.store.read(async (tx) => {
      const found = (await storedList(tx)).find((one) => one.verificationId === verificationId);
      if (!found) return undefined;
      const rows = found.result && (await tx.settings.get(rowsName(found.slot)));
      return { ...shown(found, await tx.clock.nowMs()), rows: rows === undefined ? [] : JSON.parse(rows) };
    });
  }

  async start(begun: BegunVerification, run: (signal: AbortSignal) => Promise<Report>): Promise<Verification> {
    const added = await this.#parts.store.transaction(async (tx) => {
      const list = await lockedList(tx);
      const startedMs = await tx.clock.nowMs();
      if (list.some((one) => isUnderWay(one, startedMs))) {
        throw new Conflict("A verification is under way. Wait for its report.");
      }
      return add(tx, list, { ...begun, startedMs });
    });
    this.#underWay = this.#run(added, run);
    return shown(added, added.startedMs);
  }

  async keep(begun: BegunVerification, report: Report): Promise<Verification> {
    const added = await this.#parts.store.transaction(async (tx) => {
      const one = await add(tx, await lockedList(tx), { ...begun, startedMs: Date.parse(report.startedTime) });
      return end(tx, one, report);
    });
    return shown(added, added.startedMs);
  }

  /** Ends the run that is under way on this node. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#underWay;
  }

  async #run(begun: Stored, run: (signal: AbortSignal) => Promise<Report>): Promise<void> {
    const { store, log } = this.#parts;
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(longestRunMs)]);
    const outcome = await run(signal).catch((error: Error) => this.#problemOf(error, signal));
    await store
      .transaction((tx) => end(tx, begun, outcome))
      .catch((error) => log.warn({ error }, "the report of a verification could not be stored"));
  }

  #problemOf(error: Error, signal: AbortSignal): string {
    if (this.#stopping.signal.aborted) return "The service was stopped meanwhile.";
    return signal.aborted ? `It took longer than ${longestRunMs / 60_000} minutes.` : error.message;
  }
}

async function storedList({ settings }: Tx): Promise<readonly Stored[]> {
  return JSON.parse((await settings.get(listName)) ?? "[]");
}

/** No other node changes the list until the transaction ends. */
async function lockedList({ settings }: Tx): Promise<readonly Stored[]> {
  return JSON.parse(await settings.lock(listName, "[]"));
}

/** Adds a run to the list; the oldest one leaves it. */
async function add(tx: Tx, list: readonly Stored[], begun: Omit<Stored, "verificationId" | "slot">): Promise<Stored> {
  const kept = list.slice(0, mostStored - 1);
  const slots = Array.from({ length: mostStored }, (_, slot) => slot);
  const slot = slots.find((free) => !kept.some((one) => one.slot === free))!;
  const added = { verificationId: randomBytes(6).toString("hex"), slot, ...begun };
  await tx.settings.set(listName, JSON.stringify([added, ...kept]));
  return added;
}

/** Stores how a run has ended: with a report, or with a sentence about why there is none. */
async function end(tx: Tx, { verificationId }: Stored, outcome: Report | string): Promise<Stored> {
  const list = await lockedList(tx);
  const begun = list.find((one) => one.verificationId === verificationId);
  // Newer runs have taken its place.
  if (!begun) throw new Conflict("This verification is no longer stored.");
  const ended =
    typeof outcome === "string" ? { ...begun, problem: cut(outcome) } : { ...begun, result: resultOf(outcome) };
  if (typeof outcome !== "string")
    await tx.settings.set(rowsName(begun.slot), JSON.stringify(outcome.rows.map(cutRow)));
  await tx.settings.set(listName, JSON.stringify(list.map((one) => (one === begun ? ended : one))));
  return ended;
}

function isUnderWay(run: Stored, nowMs: number): boolean {
  return !hasEnded(run) && nowMs - run.startedMs < longestRunMs;
}

function hasEnded({ result, problem }: Stored): boolean {
  return result !== undefined || problem !== undefined;
}

function shown(stored: Stored, nowMs: number): Verification {
  const { slot: _, ...run } = stored;
  if (hasEnded(stored) || isUnderWay(stored, nowMs)) return run;
  return { ...run, problem: "Its node was stopped before it had ended." };
}

function resultOf({ grade, verdict, counts, seconds, version }: Report): NonNullable<Verification["result"]> {
  return { grade, verdict: cut(verdict), counts, seconds, version };
}

function cutRow(row: Report["rows"][number]): Report["rows"][number] {
  return { ...row, seen: cut(row.seen), next: row.next === null ? null : cut(row.next) };
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`;
}
