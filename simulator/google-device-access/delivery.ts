import type { AccountEvent } from "./account.ts";
import type { Subscription } from "./subscription.ts";

/** What happens to events on their way. All of it happens with the real feed. */
export interface DeliveryFaults {
  /** Events are lost. The real feed loses none, but a wrong topic or an expired subscription does. */
  loses: boolean;
  /** Every event is delivered twice, in messages of their own. */
  duplicates: boolean;
  /** Events wait until this many are there, and are delivered in reverse; 0: at once. */
  shuffles: number;
  /** Events about one device that wait together become one message. */
  merges: boolean;
  /** Each event waits this long. */
  delayMs: number;
}

export function noDeliveryFaults(): DeliveryFaults {
  return { loses: false, duplicates: false, shuffles: 0, merges: false, delayMs: 0 };
}

/** Delivers events to the subscription, with the faults that are switched on. */
export class Delivery {
  readonly faults = noDeliveryFaults();
  readonly #subscription: Subscription;
  readonly #timers = new Set<NodeJS.Timeout>();
  #held: AccountEvent[] = [];

  constructor(subscription: Subscription) {
    this.#subscription = subscription;
  }

  take(event: AccountEvent): void {
    const { loses, delayMs } = this.faults;
    if (loses) return;
    if (delayMs === 0) {
      this.#hold(event);
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#hold(event);
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Delivers what is held. */
  flush(): void {
    const held = this.#held.reverse();
    this.#held = [];
    for (const event of this.faults.merges ? merged(held) : held) {
      this.#subscription.publish(event);
      if (this.faults.duplicates) this.#subscription.publish(event);
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #hold(event: AccountEvent): void {
    this.#held.push(event);
    if (this.#held.length >= Math.max(1, this.faults.shuffles)) this.flush();
  }
}

interface ResourceUpdate {
  readonly name: string;
  readonly traits: Readonly<Record<string, object>>;
}

/** Joins events about the same device: the last one gives its time, and its fields win. */
function merged(events: readonly AccountEvent[]): readonly AccountEvent[] {
  const joined = new Map<unknown, AccountEvent>();
  for (const event of events.toSorted((a, b) => (String(a.timestamp) < String(b.timestamp) ? -1 : 1))) {
    const update = event.resourceUpdate as ResourceUpdate | undefined;
    const before = update && (joined.get(update.name)?.resourceUpdate as ResourceUpdate | undefined);
    if (!update || !before) joined.set(update?.name ?? event, event);
    else {
      const traits = { ...before.traits };
      for (const [name, fields] of Object.entries(update.traits)) traits[name] = { ...traits[name], ...fields };
      joined.set(update.name, { ...event, resourceUpdate: { ...update, traits } });
    }
  }
  return [...joined.values()];
}
