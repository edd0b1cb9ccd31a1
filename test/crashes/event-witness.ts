import { setTimeout as pause } from "node:timers/promises";
import { EventStream, type ReceivedEvent } from "../events/event-stream.ts";
import { historyOf, type LampOwner, retryPauseMs } from "./lamp-owner.ts";

/** The event of each id, over all readers. */
export type KnownIds = Map<string, string>;

/**
 * A client of `/v3/events` that resumes after its last id whenever its stream ends, and reads its lamp again after a
 * `resync`, as the interface says.
 */
export class EventWitness {
  /** All values of the lamp that the client knows. */
  readonly values = new Set<string>();
  readonly resyncs: string[] = [];
  /** Violations of the interface. */
  readonly violations: string[] = [];
  eventCount = 0;
  readonly #owner: LampOwner;
  readonly #anyNode: () => string;
  readonly #known: KnownIds;
  readonly #own = new Set<string>();
  #lastEventId: string | undefined;
  #leave = Promise.withResolvers<false>();
  #opened = Promise.withResolvers<void>();
  #back: PromiseWithResolvers<void> | undefined;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(owner: LampOwner, anyNode: () => string, known: KnownIds) {
    this.#owner = owner;
    this.#anyNode = anyNode;
    this.#known = known;
  }

  /** Resolves when the first stream is open; from then on every event must arrive. Earlier values are known. */
  async start(before: Iterable<string> = []): Promise<void> {
    for (const value of before) this.values.add(value);
    this.#running = this.#run();
    await this.#opened.promise;
  }

  /** Ends the stream; the client resumes at any node. */
  reconnect(): void {
    this.#leave.resolve(false);
  }

  /** Ends the stream; the client resumes only when the test says so. */
  goAway(): void {
    this.#back = Promise.withResolvers();
    this.reconnect();
  }

  comeBack(): void {
    this.#back?.resolve();
    this.#back = undefined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.comeBack();
    this.reconnect();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#back?.promise;
      this.#leave = Promise.withResolvers();
      const plan = this.#lastEventId === undefined ? {} : { lastEventId: this.#lastEventId };
      const stream = await EventStream.open(this.#anyNode(), this.#owner.accessToken, plan).catch(() => undefined);
      if (stream) {
        await this.#follow(stream);
        stream.close();
      } else await pause(retryPauseMs);
    }
  }

  async #follow(stream: EventStream): Promise<void> {
    const ended = stream.ended.then(
      () => false,
      () => false,
    );
    for (let taken = 0; ; ) {
      const hasMore = await Promise.race([stream.until(taken + 1, () => true), ended, this.#leave.promise]);
      while (taken < stream.received.length) await this.#take(stream.received[taken++]!);
      if (!hasMore) return;
    }
  }

  async #take({ id, name, data }: ReceivedEvent): Promise<void> {
    if (name === "resync") await this.#readAnew(data.reason);
    else if (name !== "heartbeat") this.#keep(id, name, data);
    this.#lastEventId = id;
    this.#opened.resolve();
  }

  #keep(id: string, name: string, data: { deviceId: number; value: string }): void {
    this.eventCount += 1;
    const meaning = JSON.stringify([this.#owner.userId, name, data]);
    const known = this.#known.get(id);
    if (known !== undefined && known !== meaning) this.violations.push(`event id ${id} meant ${known}, now ${meaning}`);
    this.#known.set(id, meaning);
    if (this.#own.has(id)) this.violations.push(`event ${id} was told twice to one reader`);
    this.#own.add(id);
    if (name === "attribute" && data.deviceId === this.#owner.lamp) this.values.add(data.value);
  }

  async #readAnew(reason: string): Promise<void> {
    this.resyncs.push(reason);
    this.#own.clear();
    for (;;) {
      const history = await historyOf(this.#anyNode(), this.#owner).catch(() => undefined);
      if (history) return history.forEach((value) => void this.values.add(value));
      if (this.#isStopped) return;
      await pause(retryPauseMs);
    }
  }
}
