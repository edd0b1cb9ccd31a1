import type { EventWriter } from "./event-reader.ts";
import { tooManyStreamsFrame } from "./frames.ts";

/**
 * Limits the open streams of each client per user or tenant, or of each operator, so that none can take all connections. A stream beyond the
 * limit ends the oldest one and is not refused: many clients give up for good after a refusal, and the oldest may be a
 * broken connection. A client whose stream was ended resumes after its last id.
 */
export class OpenStreams {
  readonly #atMost: number;
  readonly #ofHolder = new Map<string, Set<EventWriter>>();

  constructor(atMost: number) {
    this.#atMost = atMost;
  }

  add(holder: string, writer: EventWriter): void {
    const open = this.#ofHolder.get(holder) ?? new Set();
    this.#ofHolder.set(holder, open.add(writer));
    writer.closed.addEventListener("abort", () => this.#remove(holder, writer), { once: true });
    for (const oldest of open) {
      if (open.size <= this.#atMost) break;
      open.delete(oldest);
      oldest.write(Buffer.from(tooManyStreamsFrame(this.#atMost)));
      oldest.end();
    }
  }

  #remove(holder: string, writer: EventWriter): void {
    const open = this.#ofHolder.get(holder);
    open?.delete(writer);
    if (open?.size === 0) this.#ofHolder.delete(holder);
  }
}
