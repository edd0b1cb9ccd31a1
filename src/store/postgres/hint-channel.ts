import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Hint } from "../node-bus.ts";

const channel = "breezeway";
const allHints: readonly Hint[] = ["log", "commands", "revocations", "links", "feed", "questions", "quotas"];
/** The shortest time between two notifications. PostgreSQL serialises all NOTIFY commits, so hints are batched. */
const spacingMs = 20;
const retryMs = 1_000;
/** Detects a connection that died without a reset: it would otherwise listen for ever. */
const checkEveryMs = 5_000;

export interface HintChannelParts {
  readonly config: pg.ClientConfig;
  /** Sends the notification, outside of all other transactions. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
}

/**
 * Sends and receives hints between nodes with NOTIFY and LISTEN. Notifications that were sent while the listening
 * connection was broken are lost, so after each new connection all kinds of hints are passed to the listeners.
 */
export class HintChannel {
  readonly #parts: HintChannelParts;
  readonly #senderId = randomUUID();
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #unsent = new Set<Hint>();
  #sending: Promise<void> | undefined;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #receivesHints = false;
  #isStopped = false;

  constructor(parts: HintChannelParts) {
    this.#parts = parts;
  }

  get receivesHints(): boolean {
    return this.#receivesHints;
  }

  /** The connection is opened for the first listener. */
  onHint(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#client && !this.#isStopped) this.#listen();
    return () => this.#listeners.delete(listener);
  }

  /** Called when a transaction of this node with these hints is durable. */
  publish(hints: ReadonlySet<Hint>): void {
    if (hints.size === 0) return;
    for (const hint of hints) {
      this.#unsent.add(hint);
      this.#notifyListeners(hint);
    }
    this.#sending ??= this.#send();
  }

  /** Sends the remaining hints first. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#client?.end().catch(() => undefined);
  }

  async #send(): Promise<void> {
    while (this.#unsent.size > 0) {
      const payload = [this.#senderId, ...this.#unsent].join(" ");
      this.#unsent.clear();
      // Best effort: nodes also poll, so a lost hint costs only time.
      await this.#parts.notify(channel, payload).catch(() => undefined);
      if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, spacingMs));
    }
    this.#sending = undefined;
  }

  #listen(): void {
    const client = new pg.Client({ ...this.#parts.config, query_timeout: checkEveryMs });
    this.#client = client;
    let isOver = false;
    const reconnect = () => {
      if (isOver) return;
      isOver = true;
      this.#receivesHints = false;
      client.end().catch(() => undefined);
      if (!this.#isStopped) this.#timer = setTimeout(() => this.#listen(), retryMs);
    };
    client.on("error", reconnect);
    client.on("end", reconnect);
    client.on("notification", ({ payload = "" }) => this.#receive(payload));
    const check = async () => {
      if (isOver || this.#isStopped) return;
      await client.query("SELECT 1");
      this.#timer = setTimeout(() => void check().catch(reconnect), checkEveryMs);
    };
    const begin = async () => {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#receivesHints = true;
      for (const hint of allHints) this.#notifyListeners(hint);
      await check();
    };
    begin().catch(reconnect);
  }

  #receive(payload: string): void {
    const [senderId, ...hints] = payload.split(" ");
    if (senderId === this.#senderId) return;
    for (const hint of allHints) if (hints.includes(hint)) this.#notifyListeners(hint);
  }

  #notifyListeners(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }
}
