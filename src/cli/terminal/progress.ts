import { canRedraw, type Terminal } from "./terminal.ts";
import { cutTo } from "./text-width.ts";

/** Shorter work shows no progress. */
const showAfterMs = 300;
const drawEveryMs = 100;
const barColumns = 20;

/** Reports how much of the work is done. */
export type ReportProgress = (done: number, total: number) => void;

export interface Progress {
  during<Result>(what: string, work: Promise<Result>): Promise<Result>;
  /** For work of known size: call `step` for each part that is done. */
  inSteps<Result>(what: string, total: number, work: (step: () => void) => Promise<Result>): Promise<Result>;
  /** For work that reports its progress once it knows its size. */
  reporting<Result>(what: string, work: (onProgress: ReportProgress) => Promise<Result>): Promise<Result>;
}

/** A progress bar on standard error, only on a terminal; it is redrawn in place and removed at the end. */
export function progressOn(terminal: Pick<Terminal, "environment" | "err">): Progress {
  const { err } = terminal;
  async function shown<Result>(bar: (elapsedMs: number) => string, work: Promise<Result>): Promise<Result> {
    if (!canRedraw(terminal, err)) return work;
    const begunMs = performance.now();
    let isDrawn = false;
    const draw = () => {
      const elapsedMs = performance.now() - begunMs;
      if (elapsedMs < showAfterMs) return;
      isDrawn = true;
      err.write(`\r\u001b[K${cutTo(bar(elapsedMs), (err.columns || 80) - 1)}`);
    };
    const drawing = setInterval(draw, drawEveryMs);
    try {
      return await work;
    } finally {
      clearInterval(drawing);
      if (isDrawn) err.write("\r\u001b[K");
    }
  }
  const endless = (what: string) => (elapsedMs: number) =>
    `${wandering(elapsedMs)} ${what} (${Math.floor(elapsedMs / 1_000)} s)`;
  return {
    during: (what, work) => shown(endless(what), work),
    reporting(what, work) {
      let bar = endless(what);
      return shown(
        (elapsedMs) => bar(elapsedMs),
        work((done, total) => {
          const part = total > 0 ? Math.min(1, done / total) : 1;
          bar = () => `${filled(part)} ${what} ${Math.floor(part * 100)} %`;
        }),
      );
    },
    inSteps(what, total, work) {
      let done = 0;
      return shown(
        () => `${filled(done / total)} ${what} ${done} of ${total}`,
        work(() => done++),
      );
    },
  };
}

/** A bar for work of unknown duration. */
function wandering(elapsedMs: number): string {
  const at = Math.floor(elapsedMs / drawEveryMs) % (2 * barColumns - 6);
  const from = at < barColumns - 3 ? at : 2 * (barColumns - 3) - at;
  return `[${" ".repeat(from)}===${" ".repeat(barColumns - 3 - from)}]`;
}

function filled(part: number): string {
  const full = Math.round(barColumns * Math.min(1, part));
  return `[${"=".repeat(full)}${" ".repeat(barColumns - full)}]`;
}
