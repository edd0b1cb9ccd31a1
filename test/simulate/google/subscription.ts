import { beginningMs } from "../clocks.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import type { AccountChange } from "./account.ts";

/** A message that the subscription has acknowledged. */
export interface AcknowledgedMessage {
  readonly messageId: string;
  readonly account: string;
  /** The number of committed transactions when it was handed to the node, and when the acknowledgement arrived. */
  readonly pulledSeq: number;
  readonly seq: number;
}

interface Message {
  readonly messageId: string;
  readonly account: string;
  readonly data: string;
}

interface Delivery {
  readonly message: Message;
  readonly pulledSeq: number;
}

interface OpenPull {
  readonly node: Process;
  readonly answer: (document: object) => void;
}

export interface SubscriptionParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly process: Process;
  readonly committedSoFar: () => number;
  /** Whether messages may get lost. */
  readonly losesMessages: boolean;
}

const ackDeadlineMs = 10_000;
/** An empty pull stays open for this time. */
const longestPullMs = 30_000;

/** The Pub/Sub subscription of the project: messages come late, in any order, more than once, and may get lost. */
export class PubSub {
  readonly acknowledged: AcknowledgedMessage[] = [];
  readonly #parts: SubscriptionParts;
  readonly #waiting: Message[] = [];
  readonly #delivered = new Map<string, Delivery>();
  readonly #pulls = new Set<OpenPull>();
  #count = 0;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  /** Google publishes a change of an account, now or later. */
  publish(account: string, change: AccountChange): void {
    const { faults, losesMessages, scheduler } = this.#parts;
    if (losesMessages && faults.strikes("feed message lost", 0.1)) return;
    this.#count += 1;
    const timestamp = new Date(beginningMs + scheduler.nowMs).toISOString();
    const update =
      "relation" in change
        ? { relationUpdate: { type: "CREATED", subject: "", object: "" } }
        : { resourceUpdate: { name: change.device, traits: change.traits } };
    const event = { eventId: `e${this.#count}`, timestamp, userId: account, ...update };
    const data = Buffer.from(JSON.stringify(event)).toString("base64");
    this.#deliverLater({ messageId: `m${this.#count}`, account, data });
    // Also under another id: Google publishes at least once.
    if (faults.strikes("feed message duplicated", 0.1)) {
      this.#deliverLater({ messageId: `m${this.#count}x`, account, data });
    }
  }

  pull(node: Process, signal: AbortSignal, answer: (document: object) => void): void {
    const pull: OpenPull = { node, answer };
    this.#pulls.add(pull);
    signal.addEventListener("abort", () => this.#pulls.delete(pull), { once: true });
    this.#parts.scheduler.after(longestPullMs, this.#parts.process, "an empty pull ends", () => {
      if (this.#pulls.delete(pull)) answer({});
    });
    this.#hand();
  }

  acknowledge(ackIds: readonly string[]): void {
    for (const ackId of ackIds) {
      const found = this.#delivered.get(ackId);
      if (!found) continue;
      this.#delivered.delete(ackId);
      const { messageId, account } = found.message;
      const seq = this.#parts.committedSoFar();
      this.acknowledged.push({ messageId, account, pulledSeq: found.pulledSeq, seq });
    }
  }

  /** The node gives messages back. */
  release(ackIds: readonly string[]): void {
    for (const ackId of ackIds) this.#redeliver(ackId);
  }

  #deliverLater(message: Message): void {
    const { scheduler, process, faults } = this.#parts;
    const isLate = faults.strikes("feed message delayed", 0.15);
    const delayMs = isLate ? scheduler.dice.between(1_000, 9_000) : scheduler.dice.between(5, 400);
    scheduler.after(delayMs, process, `message ${message.messageId} is published`, () => {
      this.#waiting.push(message);
      this.#hand();
    });
  }

  /** Hands waiting messages to a pull, in any order. */
  #hand(): void {
    const { scheduler, process, committedSoFar } = this.#parts;
    for (const pull of this.#pulls) if (pull.node.isDead) this.#pulls.delete(pull);
    if (this.#waiting.length === 0 || this.#pulls.size === 0) return;
    const pull = scheduler.dice.pick([...this.#pulls]);
    this.#pulls.delete(pull);
    const receivedMessages: object[] = [];
    for (let count = scheduler.dice.between(1, 4); count > 0 && this.#waiting.length > 0; count--) {
      const [message] = this.#waiting.splice(scheduler.dice.below(this.#waiting.length), 1);
      const ackId = `a${++this.#count}`;
      this.#delivered.set(ackId, { message: message!, pulledSeq: committedSoFar() });
      const { messageId, data } = message!;
      receivedMessages.push({ ackId, message: { messageId, data } });
      scheduler.after(ackDeadlineMs, process, `the deadline of ${ackId}`, () => this.#redeliver(ackId));
    }
    pull.answer({ receivedMessages });
  }

  #redeliver(ackId: string): void {
    const found = this.#delivered.get(ackId);
    if (!found) return;
    this.#delivered.delete(ackId);
    this.#parts.faults.count("feed message redelivered");
    this.#waiting.push(found.message);
    this.#hand();
  }
}
