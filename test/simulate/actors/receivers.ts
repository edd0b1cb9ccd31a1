import type { Post } from "../../../src/events/webhooks/post.ts";
import type { DeliveryAttempt } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import type { SimulatedNode } from "../node.ts";
import type { Scheduler } from "../scheduler.ts";

export interface ReceiverParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly committedSoFar: () => number;
  /** In a quiet period receivers work; a failed message would wait for up to an hour. */
  readonly isQuiet: () => boolean;
}

/** The servers that receive webhooks. They accept messages, refuse them, are slow, or never answer. */
export class Receivers {
  readonly attempts: DeliveryAttempt[] = [];
  readonly #parts: ReceiverParts;
  #arrived = 0;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** The HTTP client of one node. */
  postFor(node: SimulatedNode): Post {
    const { scheduler } = this.#parts;
    return (_, headers, body, signal) =>
      new Promise((resolve) => {
        const attempt: DeliveryAttempt = {
          node: node.name,
          messageId: headers["webhook-id"]!,
          body,
          sentMs: scheduler.nowMs,
          arrivedSeq: undefined,
          arrivalNumber: undefined,
          isAccepted: false,
          endedMs: Number.POSITIVE_INFINITY,
        };
        this.attempts.push(attempt);
        const fail = (text: string) => {
          attempt.endedMs = Math.min(attempt.endedMs, scheduler.nowMs);
          resolve({ status: null, text });
        };
        signal.addEventListener("abort", () => fail("no answer in time"), { once: true });
        scheduler.after(this.#delayMs(), undefined, `${node.name} posts ${attempt.messageId}`, () => {
          // A message that a node sent before it died may still arrive.
          if (signal.aborted || (node.isDead && scheduler.dice.chance(0.5))) return;
          const reaction = this.#reaction();
          attempt.arrivedSeq = this.#parts.committedSoFar();
          attempt.arrivalNumber = this.#arrived++;
          attempt.isAccepted = reaction === "accepted" || reaction === "accepted without answer" || reaction === "slow";
          if (reaction === "silent" || reaction === "accepted without answer") return;
          const delayMs = reaction === "slow" ? scheduler.dice.between(2_000, 14_000) : this.#delayMs();
          scheduler.after(delayMs, undefined, `${attempt.messageId} is answered`, () => {
            attempt.endedMs = Math.min(attempt.endedMs, scheduler.nowMs);
            scheduler.after(0, node, "answer of a receiver", () => {
              resolve(attempt.isAccepted ? { status: 200, text: null } : { status: 500, text: "answered 500" });
            });
          });
        });
      });
  }

  /** A node has died: ends its deliveries in progress. */
  disconnect(node: SimulatedNode): void {
    const { nowMs } = this.#parts.scheduler;
    for (const attempt of this.attempts) {
      if (attempt.node === node.name) attempt.endedMs = Math.min(attempt.endedMs, nowMs);
    }
  }

  #reaction(): "accepted" | "slow" | "refused" | "silent" | "accepted without answer" {
    const { faults, isQuiet } = this.#parts;
    if (isQuiet()) return "accepted";
    if (faults.strikes("receiver refuses", 0.08)) return "refused";
    if (faults.strikes("receiver silent", 0.03)) return "silent";
    if (faults.strikes("receiver accepts without answer", 0.05)) return "accepted without answer";
    return faults.strikes("receiver slow", 0.04) ? "slow" : "accepted";
  }

  #delayMs(): number {
    const { dice } = this.#parts.scheduler;
    return dice.chance(0.03) ? dice.between(200, 3_000) : dice.between(1, 40);
  }
}
