import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Hint } from "../node-bus.ts";

const channel = "breezeway";
const allHints: readonly Hint[] = ["log", "commands", "revocations", "links"];
/** However many transactions there are, others are told no more often: each telling stands in one line for all. */
const spacingMs = 20;
const retryMs = 1_000;
/** A connection that died without a word would otherwise seem to hear for ever. */
const checkEveryMs = 5_000;

export interface WakeParts {
  readonly config: pg.ClientConfig;
  /** Sends the notification, on any connection and never inside a transaction of somebody else. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
}

/**
 * Tells other nodes after commits that there is something to look at, and hears it of them, by NOTIFY. What was told
 * while the listening connection was broken is gone: after each new connection everything is worth a look.
 */
export class Wake {
  readonly #parts: WakeParts;
  readonly #sender = randomUUID();
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #untold = new Set<Hint>();
  #telling: Promise<void> | undefined;
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #areHeard = false;
  #isStopped = false;

  constructor(parts: WakeParts) {
    this.#parts = parts;
  }

  get areHeard(): boolean {
    return this.#areHeard;
  }

  /** Listens from the first listener on. */
  hear(heard: (hint: Hint) => void): () => void {
    this.#listeners.add(heard);
    if (!this.#client && !this.#isStopped) this.#listen();
    return () => this.#listeners.delete(heard);
  }

  /** A transaction of this node that hinted at these is durable. */
  tell(hints: ReadonlySet<Hint>): void {
    if (hints.size === 0) return;
    for (const hint of hints) {
      this.#untold.add(hint);
      this.#pass(hint);
    }
    this.#telling ??= this.#tellOthers();
  }

  /** What is still to be told is told first. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    await this.#telling;
    await this.#client?.end().catch(() => undefined);
  }

  async #tellOthers(): Promise<void> {
    while (this.#untold.size > 0) {
      const payload = [this.#sender, ...this.#untold].join(" ");
      this.#untold.clear();
      // It is only a hint: what doesn't get through is found by looking.
      await this.#parts.notify(channel, payload).catch(() => undefined);
      if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, spacingMs));
    }
    this.#telling = undefined;
  }

  #listen(): void {
    const client = new pg.Client({ ...this.#parts.config, query_timeout: checkEveryMs });
    this.#client = client;
    let isOver = false;
    const again = () => {
      if (isOver) return;
      isOver = true;
      this.#areHeard = false;
      client.end().catch(() => undefined);
      if (!this.#isStopped) this.#retry = setTimeout(() => this.#listen(), retryMs);
    };
    client.on("error", again);
    client.on("end", again);
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    const check = async () => {
      if (isOver || this.#isStopped) return;
      await client.query("SELECT 1");
      this.#retry = setTimeout(() => void check().catch(again), checkEveryMs);
    };
    const begin = async () => {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#areHeard = true;
      for (const hint of allHints) this.#pass(hint);
      await check();
    };
    begin().catch(again);
  }

  #hear(payload: string): void {
    const [sender, ...hints] = payload.split(" ");
    if (sender === this.#sender) return;
    for (const hint of allHints) if (hints.includes(hint)) this.#pass(hint);
  }

  #pass(hint: Hint): void {
    for (const heard of this.#listeners) heard(hint);
  }
}
