import type { Cancel, Logger, Runtime } from "../runtime/runtime.ts";

export interface LineBounds {
  readonly windowMs: number;
  /** Lines of one source with one code on one route in a window. */
  readonly perKind: number;
  /** Lines of all sources together in a window. */
  readonly perWindow: number;
  /** Kinds that are counted separately in a window. */
  readonly kinds: number;
  /** Summary lines in a window. */
  readonly summaries: number;
}

const defaultLineBounds: LineBounds = {
  windowMs: 60_000,
  perKind: 10,
  perWindow: 300,
  kinds: 1_000,
  summaries: 20,
};

/** Lines are counted by source, code and route. */
export interface LineKind {
  readonly source: string;
  readonly code: string;
  readonly route: string;
}

interface Count {
  readonly kind: LineKind;
  written: number;
  suppressed: number;
}

/**
 * Rate limit for log lines that callers cause, so that a flood of refused requests doesn't fill the disk. Suppressed
 * lines are counted, and the counts are written when the window ends.
 */
export class BoundedLines {
  readonly #report: Logger;
  readonly #after: Runtime["after"];
  readonly #bounds: LineBounds;
  readonly #counts = new Map<string, Count>();
  #written = 0;
  /** Suppressed lines of kinds that are not counted separately. */
  #othersSuppressed = 0;
  #windowEnd: Cancel | undefined;

  constructor(report: Logger, after: Runtime["after"], bounds = defaultLineBounds) {
    this.#report = report;
    this.#after = after;
    this.#bounds = bounds;
  }

  /** Whether a line of that kind may be written now. If not, it is counted as suppressed. */
  admit(kind: LineKind): boolean {
    this.#windowEnd ??= this.#after(this.#bounds.windowMs, () => this.endWindow());
    const count = this.#countOf(kind);
    const isAdmitted =
      count !== undefined && count.written < this.#bounds.perKind && this.#written < this.#bounds.perWindow;
    if (isAdmitted) {
      count.written += 1;
      this.#written += 1;
    } else if (count) count.suppressed += 1;
    else this.#othersSuppressed += 1;
    return isAdmitted;
  }

  /** Writes the counts of suppressed lines and starts a new window. */
  endWindow(): void {
    this.#windowEnd?.();
    this.#windowEnd = undefined;
    const suppressed = [...this.#counts.values()].filter((count) => count.suppressed > 0);
    suppressed.sort((a, b) => b.suppressed - a.suppressed);
    for (const { kind, suppressed: lines } of suppressed.slice(0, this.#bounds.summaries))
      this.#writeSummary({ ...kind, lines });
    const others = suppressed.slice(this.#bounds.summaries).reduce((sum, count) => sum + count.suppressed, 0);
    if (others + this.#othersSuppressed > 0) this.#writeSummary({ lines: others + this.#othersSuppressed });
    this.#counts.clear();
    this.#written = 0;
    this.#othersSuppressed = 0;
  }

  #writeSummary(fields: object): void {
    this.#report.warn(fields, "further lines of this kind were left out of the log");
  }

  #countOf(kind: LineKind): Count | undefined {
    const key = `${kind.source}\n${kind.code}\n${kind.route}`;
    const known = this.#counts.get(key);
    if (known || this.#counts.size >= this.#bounds.kinds) return known;
    const count = { kind, written: 0, suppressed: 0 };
    this.#counts.set(key, count);
    return count;
  }
}
