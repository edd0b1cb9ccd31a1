import assert from "node:assert/strict";
import type { DeviceId } from "../../src/model/ids.ts";
import type { ReceivedEvent } from "../events/event-stream.ts";
import type { ShownAttribute, V3Client } from "../stories/v3-client.ts";

/** A client that polls with `since` at changing nodes. */
export class SincePoller {
  readonly #client: V3Client;
  readonly #deviceId: DeviceId;
  readonly #kept = new Map<string, ShownAttribute>();
  #sinceMs = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(client: V3Client, deviceId: DeviceId) {
    this.#client = client;
    this.#deviceId = deviceId;
  }

  /** One poll at a time, each from the last answer's time. A poll that fails brings nothing. */
  poll(baseUrl: string): Promise<void> {
    this.#turn = this.#turn.catch(() => undefined).then(() => this.#poll(baseUrl));
    return this.#turn;
  }

  /** A poll after an event, at any node, returns that change or a later one. */
  assertHas({ data }: ReceivedEvent): void {
    const kept = this.#kept.get(data.name);
    const seen = `device ${this.#deviceId}: ${data.name} of ${data.updateTime} was told, and kept is ${JSON.stringify(kept)}`;
    assert.ok(kept && kept.updateTime >= data.updateTime, seen);
    if (kept.updateTime === data.updateTime) assert.equal(kept.value, data.value, seen);
  }

  /** No change was skipped: the collected values equal the whole device. */
  async assertWhole(baseUrl: string): Promise<void> {
    const whole = await this.#client.at(baseUrl).attributes(this.#deviceId);
    const gathered = [...this.#kept].filter(([, { value }]) => value !== null).sort();
    assert.deepEqual(gathered, Object.entries(whole).sort());
  }

  async #poll(baseUrl: string): Promise<void> {
    const changed = await this.#changed(baseUrl);
    const sinceMs = this.#sinceMs;
    for (const [name, shown] of Object.entries(changed)) {
      const { updateTime } = shown;
      const before = this.#kept.get(name);
      assert.ok(updateTime > sinceMs && updateTime > (before?.updateTime ?? 0), `${name} went back to ${updateTime}`);
      this.#kept.set(name, shown);
      this.#sinceMs = Math.max(this.#sinceMs, updateTime);
    }
  }

  /** Repeats a call that got 503: on a busy machine a token can't always be verified in time. */
  async #changed(baseUrl: string): Promise<Readonly<Record<string, ShownAttribute>>> {
    const path = `/devices/${this.#deviceId}?since=${this.#sinceMs}`;
    for (;;) {
      const { status, body } = await this.#client.at(baseUrl).call(path);
      if (status === 503) continue;
      assert.equal(status, 200, JSON.stringify(body));
      return body.attributes;
    }
  }
}
