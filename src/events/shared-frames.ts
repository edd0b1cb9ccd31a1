import type { TailedEntry } from "../store/tables/log.ts";
import type { LogPosition } from "../store/tables/log-position.ts";

/** Events as bytes. */
export interface Frames {
  readonly bytes: Buffer;
  /** The last entry that they include; undefined when there was none. */
  readonly reached: TailedEntry | undefined;
}

const bytesAtMost = 4_000_000;

/** Cache of the frames of one page. Streams of one group that have come to the same position get the same bytes. */
export class SharedFrames {
  readonly #known = new Map<string, Frames>();
  #bytes = 0;

  of(groupKey: string, { transaction, id }: LogPosition, make: () => Frames): Frames {
    const key = `${transaction}-${id} ${groupKey}`;
    const known = this.#known.get(key);
    if (known) return known;
    const frames = make();
    this.#bytes += frames.bytes.length;
    if (this.#bytes > bytesAtMost) {
      this.#known.clear();
      this.#bytes = frames.bytes.length;
    }
    this.#known.set(key, frames);
    return frames;
  }
}
