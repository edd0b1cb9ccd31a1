import type { EventOutlet } from "./event-reader.ts";
import { crowdedFrame } from "./frames.ts";

/**
 * The open streams of each client, for each whom it acts for, so that none can take all connections. One too many ends the
 * oldest and is not refused itself: many clients give up for good when they are refused, and the oldest may be one of
 * theirs that broke without a word. Whoever is ended comes back behind its last id.
 */
export class OpenStreams {
  readonly #atMost: number;
  readonly #ofHolder = new Map<string, Set<EventOutlet>>();

  constructor(atMost: number) {
    this.#atMost = atMost;
  }

  add(holder: string, outlet: EventOutlet): void {
    const open = this.#ofHolder.get(holder) ?? new Set();
    this.#ofHolder.set(holder, open.add(outlet));
    outlet.closed.addEventListener("abort", () => this.#remove(holder, outlet), { once: true });
    for (const oldest of open) {
      if (open.size <= this.#atMost) break;
      open.delete(oldest);
      oldest.write(Buffer.from(crowdedFrame(this.#atMost)));
      oldest.end();
    }
  }

  #remove(holder: string, outlet: EventOutlet): void {
    const open = this.#ofHolder.get(holder);
    open?.delete(outlet);
    if (open?.size === 0) this.#ofHolder.delete(holder);
  }
}
