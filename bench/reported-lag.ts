import { createParser } from "eventsource-parser";
import type { DeviceId } from "../src/model/ids.ts";
import { attributeName, structureAttribute } from "../src/virtual-device/attribute-names.ts";
import type { ShownChange } from "./ecosystems/living-accounts.ts";

const shownField = attributeName(structureAttribute(1, "away"));

/**
 * Follows the events of a tenant and compares when a change was sent by the ecosystem with when its event was received.
 * The changes of an account are reported in their order.
 */
export class ReportedLag implements Disposable {
  readonly #accountOf: ReadonlyMap<DeviceId, number>;
  readonly #stream: AbortController;
  /** Times of sent changes whose events are missing, and of events whose changes are not known yet, by account. */
  readonly #sent = new Map<number, number[]>();
  readonly #received = new Map<number, number[]>();
  #lags: number[] = [];
  #failure: unknown;

  private constructor(accountOf: ReadonlyMap<DeviceId, number>, stream: AbortController) {
    this.#accountOf = accountOf;
    this.#stream = stream;
  }

  static async follow(
    url: string,
    accessToken: string,
    accountOf: ReadonlyMap<DeviceId, number>,
  ): Promise<ReportedLag> {
    const stream = new AbortController();
    const answer = await fetch(`${url}/v3/events?attribute=${encodeURIComponent(shownField)}`, {
      headers: { authorization: `Bearer ${accessToken}` },
      signal: stream.signal,
    });
    if (answer.status !== 200) throw new Error(`no stream of events: ${answer.status} ${await answer.text()}`);
    const lag = new ReportedLag(accountOf, stream);
    void lag.#read(answer.body!);
    return lag;
  }

  /** The number of changes that were sent and not reported yet. */
  get missing(): number {
    return [...this.#sent.values()].reduce((sum, { length }) => sum + length, 0);
  }

  sent(changes: readonly ShownChange[]): void {
    for (const { account, sentMs } of changes) this.#pair(account, this.#sent, sentMs);
  }

  /** The lags in milliseconds that became known since the last call. */
  take(): readonly number[] {
    if (this.#failure !== undefined) throw this.#failure;
    const taken = this.#lags;
    this.#lags = [];
    return taken;
  }

  [Symbol.dispose](): void {
    this.#stream.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event === "resync") this.#failure = new Error("the stream of events has a gap");
        if (event !== "attribute") return;
        const account = this.#accountOf.get((JSON.parse(data) as { readonly deviceId: DeviceId }).deviceId);
        if (account !== undefined) this.#pair(account, this.#received, performance.timeOrigin + performance.now());
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
      this.#failure = new Error("the service ended the stream of events");
    } catch (error) {
      if (!this.#stream.signal.aborted) this.#failure = error;
    }
  }

  #pair(account: number, own: Map<number, number[]>, timeMs: number): void {
    const waiting = own.get(account) ?? [];
    own.set(account, [...waiting, timeMs]);
    const [sent = [], received = []] = [this.#sent.get(account), this.#received.get(account)];
    while (sent.length > 0 && received.length > 0) this.#lags.push(received.shift()! - sent.shift()!);
    for (const [times, all] of [
      [sent, this.#sent],
      [received, this.#received],
    ] as const) {
      if (times.length === 0) all.delete(account);
    }
  }
}
