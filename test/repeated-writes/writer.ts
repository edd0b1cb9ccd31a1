import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { DeviceId } from "../../src/model/ids.ts";

/** How the writes went: how often each kind of answer came, and how many answers were lost. */
export type Tally = Record<string, number>;

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
type OpenBody = any;

export interface WriterParts {
  /** Where the next request goes. */
  readonly baseUrl: () => string;
  readonly accessToken: string;
  readonly lampId: DeviceId;
  /** Called before each request. */
  readonly trouble?: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** A client that repeats each write with its key until it is acknowledged, and holds each answer against the store. */
export class RepeatingWriter {
  readonly #parts: WriterParts;
  readonly tally: Tally = {};
  readonly #written: string[] = [];
  readonly #alerts: string[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** The write of that number: mostly attributes, some alerts, now and then a webhook that comes and goes. */
  async write(number: number): Promise<void> {
    const mark = `w${number}`;
    const { lampId } = this.#parts;
    if (number % 10 < 7) {
      await this.#repeat("PUT", `/devices/${lampId}`, { mark }, () => this.#isInHistory(mark));
      this.#written.push(mark);
    } else if (number % 10 < 9) {
      const condition = { attrName: "mark", operation: "equals", stringThreshold: "never", action: "email" };
      const alert = { deviceId: lampId, ...condition, msg: mark };
      const made = await this.#repeat("POST", "/alerts", alert, () => this.#isAmongAlerts(mark));
      assert.equal(made.msg, mark);
      this.#alerts.push(mark);
    } else {
      const { webhookId, secret } = await this.#repeat("POST", "/webhooks", { url: `http://127.0.0.1:9/${mark}` });
      assert.ok(secret, "an answer that is repeated has the secret too");
      await this.#repeat("DELETE", `/webhooks/${webhookId}`);
    }
  }

  /** Each acknowledged write is stored once, and nothing else is. */
  async assertOnce(): Promise<void> {
    assert.deepEqual(await this.#history(), this.#written);
    assert.deepEqual((await this.#storedAlerts()).sort(), [...this.#alerts].sort());
    assert.deepEqual((await this.#read("/webhooks")).webhooks, []);
  }

  async #repeat(method: string, path: string, body?: object, isStored?: () => Promise<boolean>): Promise<OpenBody> {
    const key = randomUUID();
    for (let isKnown = true; ; ) {
      this.#parts.signal.throwIfAborted();
      await this.#parts.trouble?.();
      const answer = await this.#send(method, path, key, body);
      const code: string = answer === undefined ? "no answer" : (answer.body.error ?? answer.status);
      const isReplayed = answer?.headers.get("idempotency-replayed") === "true";
      this.#count(isReplayed ? `${code} replayed` : String(code));
      if (answer && answer.status < 300) {
        if (isKnown) assert.ok(!isReplayed, "an answer is repeated that was never lost");
        return answer.body;
      }
      assert.ok(
        ["no answer", "outcome_unknown", "store_unavailable", "idempotency_key_in_use"].includes(code),
        `${method} ${path} was answered ${code}`,
      );
      if (code === "no answer" || code === "outcome_unknown") isKnown = false;
      if (code === "store_unavailable") {
        assert.match(answer?.body.error_description, /Nothing was changed/);
        if (isKnown && isStored) assert.equal(await isStored(), false, "nothing was changed, said the answer");
      }
      if (code === "outcome_unknown") assert.match(answer?.body.error_description, /same Idempotency-Key/);
    }
  }

  async #send(method: string, path: string, key: string, body?: object) {
    const headers = {
      authorization: `Bearer ${this.#parts.accessToken}`,
      "idempotency-key": key,
      ...(body && { "content-type": "application/json" }),
    };
    try {
      const answer = await fetch(`${this.#parts.baseUrl()}/v3${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as OpenBody };
    } catch {
      return undefined;
    }
  }

  #count(outcome: string): void {
    this.tally[outcome] = (this.tally[outcome] ?? 0) + 1;
  }

  async #read(path: string): Promise<OpenBody> {
    const headers = { authorization: `Bearer ${this.#parts.accessToken}` };
    for (;;) {
      this.#parts.signal.throwIfAborted();
      await this.#parts.trouble?.();
      try {
        const answer = await fetch(`${this.#parts.baseUrl()}/v3${path}`, { headers });
        const body = (await answer.json()) as OpenBody;
        if (answer.status === 200) return body;
      } catch {
        // What was lost on the way is asked for again.
      }
    }
  }

  /** What the lamp's attribute was written to, in order. */
  async #history(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const query = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await this.#read(`/devices/${this.#parts.lampId}/history?attribute=mark${query}`);
      found.push(...page.changes.map(({ value }: { readonly value: string }) => value));
      cursor = page.cursor;
    }
    return found;
  }

  async #storedAlerts(): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const query = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await this.#read(`/alerts?deviceId=${this.#parts.lampId}${query}`);
      found.push(...page.alerts.map(({ msg }: { readonly msg: string }) => msg));
      cursor = page.cursor;
    }
    return found;
  }

  async #isInHistory(mark: string): Promise<boolean> {
    return (await this.#history()).includes(mark);
  }

  async #isAmongAlerts(mark: string): Promise<boolean> {
    return (await this.#storedAlerts()).includes(mark);
  }
}
