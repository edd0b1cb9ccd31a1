import { rows as allRows } from "./all-rows.ts";
import { needs } from "./needs.ts";
import { Failure, NotRun, sides } from "./outcome.ts";
import { countsOf, gradeOf, type Report, type ReportedRow, verdictOf } from "./report/report.ts";
import type { Row } from "./row.ts";
import type { RowContext } from "./row-context.ts";

export interface RunOptions {
  readonly version: string;
  /** Called before each row. */
  readonly begins?: (row: Row, place: number, count: number) => void;
  readonly rows?: readonly Row[];
}

/** Runs the rows one after the other and leaves the deployment as it was. Rejects only when it is interrupted. */
export async function runRows(
  context: RowContext,
  { version, begins, rows: availableRows = allRows }: RunOptions,
): Promise<Report> {
  const rows = availableRows.filter((row) => context.input.isPatient || !row.needs.includes("patience"));
  const startedTime = new Date().toISOString();
  const startMs = performance.now();
  const reported = new Map<string, ReportedRow>();
  /** For each row that was blocked: the name of the row that blocks it, directly or through others. */
  const roots = new Map<string, string>();
  try {
    for (const [place, row] of rows.entries()) {
      context.signal.throwIfAborted();
      begins?.(row, place, rows.length);
      const rowMs = performance.now();
      const root = rootOf(row, reported, roots);
      if (root !== undefined) roots.set(row.name, root.name);
      const outcome = root ? blockedBy(root) : await outcomeOf(row, context);
      reported.set(row.name, describe(row, outcome, Math.round(performance.now() - rowMs), context));
    }
  } finally {
    await context.cleanUp();
  }
  const all = [...reported.values()];
  const grade = gradeOf(all);
  return {
    url: context.input.url,
    startedTime,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    version,
    grade,
    verdict: verdictOf(grade, all, availableRows.length - rows.length),
    counts: countsOf(all),
    rows: all,
  };
}

type Outcome = Pick<ReportedRow, "status" | "seen" | "atFault" | "next">;

/** The first row in the chain of dependencies that keeps this row from being run. */
function rootOf(
  { after, unless = [] }: Row,
  reported: ReadonlyMap<string, ReportedRow>,
  roots: ReadonlyMap<string, string>,
): ReportedRow | undefined {
  const rootsOf = (names: readonly string[]) => names.map((name) => reported.get(roots.get(name) ?? name));
  return (
    rootsOf([...after, ...unless]).find((row) => row?.status === "fail") ??
    rootsOf(after).find((row) => row?.status === "not_run")
  );
}

function blockedBy({ title, status }: ReportedRow): Outcome {
  const why = status === "fail" ? "failed" : "was not run";
  return { status: "not_run", seen: `It depends on "${title}", which ${why}.`, atFault: null, next: `See "${title}".` };
}

async function outcomeOf(row: Row, context: RowContext): Promise<Outcome> {
  const unmet = row.needs.map((need) => needs[need]).find(({ isMet }) => !isMet(context.input));
  if (unmet) return { status: "not_run", seen: unmet.reason, atFault: null, next: unmet.next };
  try {
    const { seen, next } = await row.run(context);
    return { status: next === undefined ? "pass" : "warn", seen, atFault: null, next: next ?? null };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof NotRun) return { status: "not_run", seen: error.message, atFault: null, next: error.next };
    if (error instanceof Failure) {
      const { seen, side, next } = error.finding;
      return { status: "fail", seen, atFault: sides[side], next };
    }
    // Any other error: the answer had a format that the row does not handle.
    const seen = `An answer could not be understood (${error instanceof Error ? error.message : error}).`;
    const next = "Compare the answers of this deployment with its /docs.";
    return { status: "fail", seen, atFault: sides.between, next };
  } finally {
    await context.cleanUpRow();
  }
}

function describe(row: Row, outcome: Outcome, milliseconds: number, { secrets }: RowContext): ReportedRow {
  const { status, seen, atFault, next } = outcome;
  return {
    name: row.name,
    group: row.group,
    title: row.title,
    proves: row.proves,
    essential: row.isEssential,
    status,
    seen: secrets.without(seen),
    atFault,
    next: next === null ? null : secrets.without(next),
    milliseconds,
  };
}
