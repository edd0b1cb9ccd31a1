/** Tells how far something has come that takes its time. */
export type Tell = (done: number, total: number) => void;

/** What takes less is over before anybody wonders. */
const quietMs = 300;
const barLetters = 24;

/** A bar on a terminal; nothing where nobody looks. */
export function progressOn(terminal: NodeJS.WriteStream, what: string): { readonly tell: Tell; end(): void } {
  const isShown = terminal.isTTY && process.env.TERM !== "dumb" && !process.env.CI;
  const startedMs = performance.now();
  let isDrawn = false;
  return {
    tell(done, total) {
      if (!isShown || performance.now() - startedMs < quietMs || total === 0) return;
      const part = Math.min(1, done / total);
      const bar = "#".repeat(Math.round(part * barLetters)).padEnd(barLetters, ".");
      terminal.write(`\r${what} [${bar}] ${Math.floor(part * 100)} %`);
      isDrawn = true;
    },
    end() {
      if (isDrawn) terminal.write("\r\u001b[K");
    },
  };
}
