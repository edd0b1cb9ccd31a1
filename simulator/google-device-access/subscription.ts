import { randomBytes } from "node:crypto";

export interface Message {
  readonly messageId: string;
  readonly data: string;
  readonly publishTime: string;
}

interface Waiting {
  readonly message: Message;
  attempts: number;
  /** Until when a subscriber has it; 0: it waits for a subscriber. */
  leasedUntilMs: number;
  ackId: string;
}

/**
 * A Pub/Sub subscription: each message is delivered until it is acknowledged. A message that is not acknowledged before
 * its deadline is delivered again, to any subscriber.
 */
export class Subscription {
  ackDeadlineMs = 10_000;
  /** How long an empty pull stays open. */
  holdMs = 90_000;
  acknowledged = 0;
  readonly #nowMs: () => number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #pullers = new Set<() => void>();
  #published = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** How many messages are not acknowledged. */
  get backlog(): number {
    return this.#waiting.size;
  }

  publish(event: unknown, messageId = String(++this.#published)): void {
    const data = Buffer.from(JSON.stringify(event)).toString("base64");
    const message = { messageId, data, publishTime: new Date(this.#nowMs()).toISOString() };
    this.#waiting.set(`${messageId} ${newAckId()}`, { message, attempts: 0, leasedUntilMs: 0, ackId: "" });
    this.#wake();
  }

  /** Resolves when there are messages, when the pull was held long enough, or when the caller has gone. */
  async pull(most: number, gone: AbortSignal): Promise<readonly object[]> {
    const untilMs = performance.now() + this.holdMs;
    for (;;) {
      const leased = gone.aborted ? [] : this.#lease(most);
      const leftMs = untilMs - performance.now();
      if (leased.length > 0 || gone.aborted || leftMs <= 0) return leased;
      await this.#change(Math.min(leftMs, this.#nextDeadlineMs()), gone);
    }
  }

  acknowledge(ackIds: readonly string[]): void {
    for (const [key, { ackId }] of this.#waiting) {
      if (!ackIds.includes(ackId)) continue;
      this.#waiting.delete(key);
      this.acknowledged += 1;
    }
  }

  modifyAckDeadline(ackIds: readonly string[], seconds: number): void {
    for (const waiting of this.#waiting.values()) {
      if (ackIds.includes(waiting.ackId)) waiting.leasedUntilMs = this.#nowMs() + seconds * 1_000;
    }
    this.#wake();
  }

  #lease(most: number): readonly object[] {
    const nowMs = this.#nowMs();
    const free = [...this.#waiting.values()].filter(({ leasedUntilMs }) => leasedUntilMs <= nowMs).slice(0, most);
    return free.map((waiting) => {
      waiting.attempts += 1;
      waiting.ackId = newAckId();
      waiting.leasedUntilMs = nowMs + this.ackDeadlineMs;
      return { ackId: waiting.ackId, message: waiting.message, deliveryAttempt: waiting.attempts };
    });
  }

  #nextDeadlineMs(): number {
    const deadlines = [...this.#waiting.values()].map(({ leasedUntilMs }) => leasedUntilMs - this.#nowMs());
    return Math.max(1, Math.min(60_000, ...deadlines));
  }

  #change(limitMs: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#pullers.delete(finish);
        gone.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, limitMs);
      this.#pullers.add(finish);
      gone.addEventListener("abort", finish, { once: true });
    });
  }

  #wake(): void {
    for (const wake of [...this.#pullers]) wake();
  }
}

function newAckId(): string {
  return randomBytes(18).toString("base64url");
}
