import type { Cancel, Report, Runtime } from "../runtime/runtime.ts";

export interface LineBounds {
  readonly windowMs: number;
  /** Lines of one source with one code on one route in a window. */
  readonly perKind: number;
  /** Lines of all sources together in a window. */
  readonly perWindow: number;
  /** Kinds that are told apart in a window. */
  readonly kinds: number;
  /** Lines about what was left out in a window. */
  readonly summaries: number;
}

export const defaultLineBounds: LineBounds = {
  windowMs: 60_000,
  perKind: 10,
  perWindow: 300,
  kinds: 1_000,
  summaries: 20,
};

/** What lines are counted by. */
export interface LineKind {
  readonly source: string;
  readonly code: string;
  readonly route: string;
}

interface Count {
  readonly kind: LineKind;
  written: number;
  leftOut: number;
}

/**
 * A rate limit for log lines that callers cause, so that a flood of refused requests doesn't fill the disk. What was left
 * out is counted, and the counts are written when the window ends.
 */
export class BoundedLines {
  readonly #report: Report;
  readonly #after: Runtime["after"];
  readonly #bounds: LineBounds;
  readonly #counts = new Map<string, Count>();
  #written = 0;
  /** Left out, of kinds that are not told apart. */
  #othersLeftOut = 0;
  #windowEnd: Cancel | undefined;

  constructor(report: Report, after: Runtime["after"], bounds = defaultLineBounds) {
    this.#report = report;
    this.#after = after;
    this.#bounds = bounds;
  }

  /** Whether a line of that kind may be written now. If not, it is counted as left out. */
  admit(kind: LineKind): boolean {
    this.#windowEnd ??= this.#after(this.#bounds.windowMs, () => this.endWindow());
    const count = this.#countOf(kind);
    const isAdmitted =
      count !== undefined && count.written < this.#bounds.perKind && this.#written < this.#bounds.perWindow;
    if (isAdmitted) {
      count.written += 1;
      this.#written += 1;
    } else if (count) count.leftOut += 1;
    else this.#othersLeftOut += 1;
    return isAdmitted;
  }

  /** Writes what was left out and begins anew. */
  endWindow(): void {
    this.#windowEnd?.();
    this.#windowEnd = undefined;
    const leftOut = [...this.#counts.values()].filter((count) => count.leftOut > 0);
    leftOut.sort((a, b) => b.leftOut - a.leftOut);
    for (const { kind, leftOut: lines } of leftOut.slice(0, this.#bounds.summaries)) this.#tell({ ...kind, lines });
    const others = leftOut.slice(this.#bounds.summaries).reduce((sum, count) => sum + count.leftOut, 0);
    if (others + this.#othersLeftOut > 0) this.#tell({ lines: others + this.#othersLeftOut });
    this.#counts.clear();
    this.#written = 0;
    this.#othersLeftOut = 0;
  }

  #tell(fields: object): void {
    this.#report.warn(fields, "further lines of this kind were left out of the log");
  }

  #countOf(kind: LineKind): Count | undefined {
    const key = `${kind.source}\n${kind.code}\n${kind.route}`;
    const known = this.#counts.get(key);
    if (known || this.#counts.size >= this.#bounds.kinds) return known;
    const count = { kind, written: 0, leftOut: 0 };
    this.#counts.set(key, count);
    return count;
  }
}
