import { outsideRequests, type Runtime } from "../runtime/runtime.ts";
import type { TurnOwner } from "../runtime/time-slices.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import type { LogPage } from "./log-page.ts";

/** A stream that needs the log after its position. */
export interface PageRequest {
  readonly owner: TurnOwner;
  /** The epoch that the position belongs to. */
  readonly epoch: string;
  readonly after: LogPosition;
  readonly limit: number;
  /** Aborted when the stream is closed. */
  readonly closed: AbortSignal;
}

export interface ReadTurnsParts {
  readonly read: (after: LogPosition, limit: number) => Promise<LogPage>;
  /** Lets the event loop serve others. */
  readonly turn: () => Promise<void>;
  readonly runtime: Pick<Runtime, "outsideRequests">;
  /** Reads that run at once. */
  readonly atMost: number;
}

interface WaitingStream extends PageRequest {
  readonly resolve: (page: LogPage | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The reads of streams that catch up. Their number at once is bounded. A page goes to every waiting stream that it
 * continues: after a restart thousands of streams resume at nearly the same position, and a read for each of them would
 * take longer than the log needs to grow by a page. Tenants take turns, and within a tenant its users (round-robin), so
 * that a tenant with thousands of waiting streams delays the next read of another tenant by one turn only.
 */
export class ReadTurns {
  readonly #parts: ReadTurnsParts;
  #running = 0;
  /** Waiting streams by tenant and holder. Those that come first in the maps have the next turn. No set is empty. */
  readonly #waiting = new Map<string, Map<string, Set<WaitingStream>>>();
  /** The streams whose pages are being read. */
  readonly #beingRead = new Set<WaitingStream>();

  constructor(parts: ReadTurnsParts) {
    this.#parts = parts;
  }

  /** The log after the stream's position; undefined when the stream is closed. */
  async page(request: PageRequest): Promise<LogPage | undefined> {
    const { closed } = request;
    if (closed.aborted) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<LogPage | undefined>();
    const stream: WaitingStream = { ...request, resolve, reject };
    const leave = () => {
      this.#remove(stream);
      resolve(undefined);
    };
    this.#add(stream);
    closed.addEventListener("abort", leave, { once: true });
    const { atMost, runtime } = this.#parts;
    if (this.#running < atMost && !this.#isBeingRead(stream)) void outsideRequests(runtime, () => this.#work());
    try {
      return await promise;
    } finally {
      closed.removeEventListener("abort", leave);
    }
  }

  async #work(): Promise<void> {
    this.#running += 1;
    for (;;) {
      // Streams that come back together wait for the same read. A read of SQLite does not leave the turn of the event
      // loop, so others would not be served between two reads.
      await this.#parts.turn();
      const stream = this.#takeNext();
      if (!stream) break;
      await this.#readFor(stream);
    }
    this.#running -= 1;
  }

  async #readFor(stream: WaitingStream): Promise<void> {
    const { after, limit, epoch } = stream;
    this.#beingRead.add(stream);
    try {
      const page = await this.#parts.read(after, limit);
      stream.resolve(page);
      for (const other of this.#streams()) {
        // Positions of two epochs can't be compared.
        if (other.epoch !== epoch || !page.continues(other.after, after)) continue;
        this.#remove(other);
        other.resolve(page);
      }
    } catch (error) {
      stream.reject(error);
    } finally {
      this.#beingRead.delete(stream);
    }
  }

  /** Removes the stream whose turn it is. A stream whose page is being read for another needs no turn. */
  #takeNext(): WaitingStream | undefined {
    for (const stream of this.#streams()) {
      if (this.#isBeingRead(stream)) continue;
      const { tenant, holder } = stream.owner;
      const ofTenant = this.#waiting.get(tenant)!;
      const ofHolder = ofTenant.get(holder)!;
      this.#remove(stream);
      // Round robin: both move to the end.
      if (ofTenant.delete(holder)) ofTenant.set(holder, ofHolder);
      if (this.#waiting.delete(tenant)) this.#waiting.set(tenant, ofTenant);
      return stream;
    }
    return undefined;
  }

  #isBeingRead({ epoch, after }: WaitingStream): boolean {
    for (const other of this.#beingRead) {
      if (other.epoch === epoch && comparePositions(other.after, after) === 0) return true;
    }
    return false;
  }

  *#streams(): Generator<WaitingStream> {
    for (const ofTenant of this.#waiting.values()) for (const ofHolder of ofTenant.values()) yield* ofHolder;
  }

  #add(stream: WaitingStream): void {
    const { tenant, holder } = stream.owner;
    const ofTenant = this.#waiting.get(tenant) ?? new Map<string, Set<WaitingStream>>();
    this.#waiting.set(tenant, ofTenant);
    const ofHolder = ofTenant.get(holder) ?? new Set();
    ofTenant.set(holder, ofHolder.add(stream));
  }

  #remove(stream: WaitingStream): void {
    const { tenant, holder } = stream.owner;
    const ofTenant = this.#waiting.get(tenant);
    const ofHolder = ofTenant?.get(holder);
    if (!ofTenant || !ofHolder?.delete(stream)) return;
    if (ofHolder.size === 0) ofTenant.delete(holder);
    if (ofTenant.size === 0) this.#waiting.delete(tenant);
  }
}
