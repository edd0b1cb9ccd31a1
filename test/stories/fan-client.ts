import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { clientOfUser, type V3Client } from "./v3-client.ts";
import { eventually, person, type World, type WorldPlan, world } from "./world.ts";

/** What a client makes of its fan request; `pending` while it still reads what it wrote. */
export type FanWord =
  | { readonly is: "running" | "pending" | "no error" }
  | { readonly is: "error"; readonly message: string; readonly badValue: string; readonly time: string };

const fanOf = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active`;

/** A program that runs fans as interface 7 tells it to, and knows nothing else about the service. */
export class FanClient {
  readonly #v3: V3Client;
  readonly #deviceId: DeviceId;
  readonly #now: () => number;
  readonly #asked = new Map<number, { readonly value: string; readonly timeMs: number }>();

  constructor(v3: V3Client, deviceId: DeviceId, now: () => number = Date.now) {
    this.#v3 = v3;
    this.#deviceId = deviceId;
    this.#now = now;
  }

  /** The same program, at another node's address. */
  at(baseUrl: string): FanClient {
    return new FanClient(this.#v3.at(baseUrl), this.#deviceId, this.#now);
  }

  async ask(value: string | null, y = 1): Promise<void> {
    this.#asked.set(y, { value: value ?? "", timeMs: this.#now() });
    await this.#v3.write(this.#deviceId, { [`${fanOf(y)}.requestWrite`]: value });
  }

  /** What is shown by that name; requestWrite of a thermostat is always there. */
  async read(what: "" | ".requestWrite", y = 1) {
    const name = `${fanOf(y)}${what}`;
    return (await this.#v3.attributes(this.#deviceId, { attribute: name }))[name];
  }

  /** Believes fan_timer_active only when its time is later than the command; otherwise reads requestWrite. */
  async check(y = 1): Promise<FanWord> {
    const { value, timeMs } = this.#asked.get(y)!;
    const active = await this.read("", y);
    if (active?.value === value && active.updateTime > timeMs) return { is: "running" };
    const request = (await this.read(".requestWrite", y))?.value;
    if (request === null) return { is: "no error" };
    if (!String(request).startsWith("error: ")) return { is: "pending" };
    return takenApart(String(request), value);
  }

  /** The same once it is no longer pending. */
  async outcome(signal: AbortSignal, y = 1): Promise<FanWord> {
    let word: FanWord = { is: "pending" };
    await eventually(signal, async () => {
      word = await this.check(y);
      assert.notEqual(word.is, "pending");
    });
    return word;
  }
}

/** The time is what follows the last comma, and the bad value is known: whatever commas the message has. */
function takenApart(text: string, badValue: string): FanWord {
  const time = text.slice(text.lastIndexOf(", ") + 2);
  const rest = text.slice("error: ".length, -`, ${time}`.length);
  assert.ok(rest.endsWith(`, ${badValue}`), text);
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return { is: "error", message: rest.slice(0, -`, ${badValue}`.length), badValue, time };
}

/** A linked and live house with somebody who runs its fans. */
export async function fanHouse(t: TestContext, plan: WorldPlan = {}) {
  const story = await world(t, { structures: [{ thermostats: 3, alarms: 1 }], ...plan });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "live"));
  const v3 = await clientOfUser(() => story.service, "Story", person);
  // A hasty service lives in a time of its own, unless its times are the database's.
  const now = story.config.databaseUrl ? Date.now : story.nowMs;
  return {
    story,
    deviceId,
    v3,
    fan: new FanClient(v3, deviceId, now),
    /** What the ecosystem was told, by its own record: it must never hear a command twice. */
    heard: () => heardBy(story),
    receipts: async () => {
      const kept = await story.service.parts.federation.receipts(story.userId, deviceId);
      return kept.map(({ value, state, text }) => ({ value, state, text }));
    },
  };
}

function heardBy({ simulator, accountId }: Pick<World, "simulator" | "accountId">) {
  const commands = simulator.log().filter((entry) => entry.kind === "command" && entry.accountId === accountId);
  return commands.map(({ status, body }) => ({ status, body }));
}
