import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { ResumePoint } from "./event-id.ts";
import { catchingUpFrame } from "./frames.ts";

export interface BeatParts {
  readonly runtime: Pick<Runtime, "after" | "nowMs">;
  readonly writer: { write(bytes: Buffer): void; readonly unsentBytes: number };
  /** The heartbeat interval that the client asked for; undefined for the default interval. */
  readonly heartbeatSeconds?: number | undefined;
  readonly heartbeatMs: number;
}

/**
 * The heartbeats of a stream that catches up. Without them a client takes its connection for dead, and begins again
 * where it began before: the stream would never catch up.
 */
export class CatchUpBeats {
  readonly #parts: BeatParts;
  /** The time of the last entry that was read; undefined while the client was not told that the stream catches up. */
  #reachedMs: number | undefined;

  constructor(parts: BeatParts) {
    this.#parts = parts;
  }

  /** Whether the client was told that the stream catches up, and not yet that it is current. */
  get isBehind(): boolean {
    return this.#reachedMs !== undefined;
  }

  /** Tells the client that old events follow. */
  announce(reachedMs: number, resumePoint: ResumePoint): void {
    this.#reachedMs = reachedMs;
    this.#write(reachedMs, resumePoint);
  }

  reached(timeMs: number): void {
    if (this.#reachedMs !== undefined) this.#reachedMs = timeMs;
  }

  isOver(): void {
    this.#reachedMs = undefined;
  }

  /** Sends heartbeats until the returned function is called, or until there is no point to resume from any more. */
  start(resumePoint: () => ResumePoint | undefined): Cancel {
    const { runtime, heartbeatMs, writer } = this.#parts;
    let cancel: Cancel = () => undefined;
    const schedule = () => {
      cancel = runtime.after(heartbeatMs, () => {
        const point = resumePoint();
        if (!point) return;
        // A client that takes nothing needs no sign of life either.
        if (this.#reachedMs !== undefined && writer.unsentBytes === 0) this.#write(this.#reachedMs, point);
        schedule();
      });
    };
    schedule();
    return () => cancel();
  }

  #write(reachedMs: number, resumePoint: ResumePoint): void {
    const { writer, runtime, heartbeatSeconds } = this.#parts;
    // Clamp future timestamps: they would mask staleness.
    const timeMs = Math.min(reachedMs, runtime.nowMs());
    writer.write(Buffer.from(catchingUpFrame(resumePoint, timeMs, heartbeatSeconds)));
  }
}
