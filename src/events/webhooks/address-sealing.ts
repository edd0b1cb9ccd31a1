import { type Cancel, pause, type Runtime } from "../../runtime/runtime.ts";
import { sealedAddressStep } from "../../store/migrations.ts";
import { confirmOlderMs, refuseOlderVersions } from "../../store/older-versions.ts";
import type { Store, Transaction } from "../../store/seam.ts";

export interface AddressSealingParts {
  readonly store: Store<Pick<Transaction, "nodes" | "webhooks">>;
  readonly runtime: Runtime;
  readonly seal: (address: string, webhookId: string) => string;
}

const everyMs = 60_000;
const batch = { webhooks: 100, pauseMs: 50 };

/**
 * Seals the addresses of webhooks, which often hold a secret in their path. Nodes of older versions read only plain
 * addresses, so addresses stay plain until all of these nodes have left. Then the store refuses such versions. One
 * round later, if none has joined meanwhile, new addresses are stored sealed, and stored ones are sealed in batches. A
 * single node does all this at once.
 */
export class AddressSealing {
  readonly #parts: AddressSealingParts;
  readonly #stopping = new AbortController();
  #isOn = false;
  #isDone = false;
  #waitMs = everyMs;
  #next: Cancel | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: AddressSealingParts) {
    this.#parts = parts;
  }

  /** Whether new addresses are stored sealed: all nodes of older versions have left, and none can come back. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** When this resolves, it is decided how new addresses are stored; stored addresses are sealed in the background. */
  async start(): Promise<void> {
    await this.#attempt(() => this.#turnOn());
    if (this.#isOn) this.#running = this.round().finally(() => this.#schedule());
    else this.#schedule();
  }

  async stop(): Promise<void> {
    this.#next?.();
    this.#stopping.abort();
    await this.#running;
  }

  #schedule(): void {
    if (this.#isDone || this.#stopping.signal.aborted) return;
    this.#next = this.#parts.runtime.after(this.#waitMs, () => {
      this.#running = this.round().finally(() => this.#schedule());
    });
  }

  /** Runs one round. */
  round(): Promise<void> {
    return this.#attempt(async () => {
      await this.#turnOn();
      if (this.#isOn) await this.#sealStored();
    });
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#parts.runtime.report.warn({ error }, "addresses of webhooks could not be sealed; trying again");
    }
  }

  async #turnOn(): Promise<void> {
    if (this.#isOn) return;
    const older = await refuseOlderVersions(this.#parts.store, sealedAddressStep);
    this.#isOn = older === "gone";
    this.#waitMs = older === "refused" ? confirmOlderMs : everyMs;
  }

  async #sealStored(): Promise<void> {
    const { store, seal, runtime } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      const count = await store.transaction(async (tx) => {
        const plain = await tx.webhooks.plainAddresses(batch.webhooks);
        for (const webhook of plain) await tx.webhooks.sealAddress(webhook, seal(webhook.url, webhook.id));
        return plain.length;
      });
      if (count < batch.webhooks) {
        this.#isDone = true;
        return;
      }
      await pause(runtime, batch.pauseMs, this.#stopping.signal);
    }
  }
}
