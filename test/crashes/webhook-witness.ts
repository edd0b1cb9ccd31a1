import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Received, receiver } from "../events/receiver.ts";
import { historyOf, type LampOwner, retryPauseMs } from "./lamp-owner.ts";

/**
 * The server of a client with a webhook for each lamp. After a `resync` message the client reads the lamp again, as the
 * interface says.
 */
export class WebhookWitness {
  /** Violations of the interface. */
  readonly violations: string[] = [];
  /** Commits that arrived with two ids: a receiver that deduplicates by id would process them twice. */
  readonly repetitions: string[] = [];
  messages = 0;
  resyncs = 0;
  readonly #owners: readonly LampOwner[];
  readonly #anyNode: () => string;
  /** The content of each `webhook-id`. */
  readonly #meanings = new Map<string, string>();
  /** The id with which each value of a lamp arrived. */
  readonly #ids = new Map<string, string>();
  /** The values of each lamp that the client knows. */
  readonly #values = new Map<number, Set<string>>();

  constructor(owners: readonly LampOwner[], anyNode: () => string) {
    this.#owners = owners;
    this.#anyNode = anyNode;
    for (const { lamp } of owners) this.#values.set(lamp, new Set());
  }

  async start(test: TestContext): Promise<void> {
    const { url, behaviour } = await receiver(test);
    behaviour.answer = (one) => {
      this.#take(one);
      return { status: 204 };
    };
    for (const { lamp, accessToken } of this.#owners) {
      const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
      const body = JSON.stringify({ url: `${url}/${lamp}`, deviceIds: [lamp] });
      const answer = await fetch(`${this.#anyNode()}/v3/webhooks`, { method: "POST", headers, body });
      assert.equal(answer.status, 201, await answer.text());
    }
  }

  /** All values of the lamp that the client knows. */
  valuesOf({ lamp }: LampOwner): ReadonlySet<string> {
    return this.#values.get(lamp)!;
  }

  #take({ path, headers, message }: Received): void {
    this.messages += 1;
    const id = headers["webhook-id"]!;
    const meaning = JSON.stringify([message.type, message.data]);
    const known = this.#meanings.get(id);
    if (known !== undefined && known !== meaning) {
      this.violations.push(`webhook-id ${id} meant ${known}, now ${meaning}`);
    }
    this.#meanings.set(id, meaning);
    const owner = this.#owners.find(({ lamp }) => path.endsWith(`/${lamp}`))!;
    if (message.type === "resync") {
      this.resyncs += 1;
      void this.#readAnew(owner);
    } else if (message.data.deviceId === owner.lamp && message.data.attributes?.power !== undefined) {
      this.#keep(owner, message.data.attributes.power, id);
    }
  }

  #keep({ lamp }: LampOwner, value: string, id: string): void {
    this.#values.get(lamp)!.add(value);
    const key = `${value} of lamp ${lamp}`;
    const before = this.#ids.get(key);
    if (before !== undefined && before !== id) this.repetitions.push(`${key} came as ${before} and as ${id}`);
    this.#ids.set(key, id);
  }

  async #readAnew(owner: LampOwner): Promise<void> {
    for (;;) {
      const history = await historyOf(this.#anyNode(), owner).catch(() => []);
      if (history) return history.forEach((value) => void this.#values.get(owner.lamp)!.add(value));
      await pause(retryPauseMs);
    }
  }
}
