import { setTimeout as pause } from "node:timers/promises";
import { type LampOwner, retryPauseMs } from "./lamp-owner.ts";

/** The status of a write whose connection broke. */
const noAnswer = 0;
/** The pause between two writes of one writer. */
const restMs = 30;

/** Writes one value after another to a lamp, each at any node, and records which were acknowledged. */
export class LampWriter {
  readonly acknowledged: string[] = [];
  refused = 0;
  /** Statuses other than 200 and 503; each is a defect of the service. */
  readonly wrongStatuses: number[] = [];
  readonly #owner: LampOwner;
  readonly #anyNode: () => string;
  #count = 0;
  #isStopped = true;
  #running: Promise<void> = Promise.resolve();
  #acknowledgedOne = Promise.withResolvers<void>();

  constructor(owner: LampOwner, anyNode: () => string) {
    this.#owner = owner;
    this.#anyNode = anyNode;
  }

  start(): void {
    this.#isStopped = false;
    this.#running = this.#run();
  }

  /** Resolves when the write in progress has been answered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Resolves when this many more writes have been acknowledged. */
  async acknowledges(more: number): Promise<void> {
    const until = this.acknowledged.length + more;
    while (this.acknowledged.length < until) await this.#acknowledgedOne.promise;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const value = `value ${++this.#count}`;
      const status = await this.#write(value);
      if (status === 200) {
        this.acknowledged.push(value);
        const { resolve } = this.#acknowledgedOne;
        this.#acknowledgedOne = Promise.withResolvers();
        resolve();
      } else if (status === 503) this.refused += 1;
      else this.wrongStatuses.push(status);
      await pause(status === 200 ? restMs : retryPauseMs);
    }
  }

  async #write(value: string): Promise<number> {
    const { lamp, accessToken } = this.#owner;
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const body = JSON.stringify({ power: value });
    const sent = fetch(`${this.#anyNode()}/v3/devices/${lamp}`, { method: "PUT", headers, body });
    const answer = await sent.catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status ?? noAnswer;
  }
}
