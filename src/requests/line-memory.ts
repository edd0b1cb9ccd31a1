import type { LogLine } from "../model/log-line.ts";

/** Bytes of the lines of all requests that have more than one plain line. */
const bytesInAll = 4_000_000;

interface Slot {
  kept: readonly LogLine[];
}

interface Counted {
  readonly slot: Slot;
  readonly lines: readonly LogLine[];
  readonly bytes: number;
}

const noLines: readonly LogLine[] = [];

/**
 * Puts log lines into the slots of their requests. Most requests have one line of short values, whose number the slots
 * bound. All others are counted in bytes, and the oldest of them lose their lines first.
 */
export class LineMemory {
  readonly #bytesInAll: number;
  /** Oldest first, from `#first` on. */
  #counted: Counted[] = [];
  #first = 0;
  #bytes = 0;

  constructor(most = bytesInAll) {
    this.#bytesInAll = most;
  }

  put(slot: Slot, lines: readonly LogLine[] = noLines): void {
    slot.kept = lines;
    if (lines.length === 0 || (lines.length === 1 && typeof lines[0]!.fields !== "string")) return;
    const bytes = lines.reduce((sum, line) => sum + bytesOf(line), 0);
    this.#counted.push({ slot, lines, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesInAll) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const { slot, lines, bytes } = this.#counted[this.#first++]!;
    this.#bytes -= bytes;
    // Another request may have taken the slot.
    if (slot.kept === lines) slot.kept = noLines;
    if (this.#first < 1_000) return;
    this.#counted = this.#counted.slice(this.#first);
    this.#first = 0;
  }
}

/** What a line with short values takes. */
const plainBytes = 500;

function bytesOf({ fields }: LogLine): number {
  return typeof fields === "string" ? fields.length + plainBytes : plainBytes;
}
