import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { clientOfUser, type V3Client } from "./v3-client.ts";
import { eventually, person, type World, type WorldPlan, world } from "./world.ts";

/** A client's view of its fan request; `pending` while requestWrite still holds the written value. */
export type FanState =
  | { readonly is: "running" | "pending" | "no error" }
  | { readonly is: "error"; readonly message: string; readonly badValue: string; readonly time: string };

const fanOf = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active`;

/** A program that runs fans as docs/interface.md (Fan requests) describes, without other knowledge of the service. */
export class FanClient {
  readonly #v3: V3Client;
  readonly #deviceId: DeviceId;
  readonly #now: () => number;
  readonly #requests = new Map<number, { readonly value: string; readonly timeMs: number }>();

  constructor(v3: V3Client, deviceId: DeviceId, now: () => number = Date.now) {
    this.#v3 = v3;
    this.#deviceId = deviceId;
    this.#now = now;
  }

  /** The same program with the address of another node. */
  at(baseUrl: string): FanClient {
    return new FanClient(this.#v3.at(baseUrl), this.#deviceId, this.#now);
  }

  async request(value: string | null, y = 1): Promise<void> {
    this.#requests.set(y, { value: value ?? "", timeMs: this.#now() });
    await this.#v3.write(this.#deviceId, { [`${fanOf(y)}.requestWrite`]: value });
  }

  /** The shown attribute; requestWrite of an existing thermostat is always shown. */
  async read(what: "" | ".requestWrite", y = 1) {
    const name = `${fanOf(y)}${what}`;
    return (await this.#v3.attributes(this.#deviceId, { attribute: name }))[name];
  }

  /** Trusts fan_timer_active only when its time is later than the command; otherwise reads requestWrite. */
  async check(y = 1): Promise<FanState> {
    const { value, timeMs } = this.#requests.get(y)!;
    const active = await this.read("", y);
    if (active?.value === value && active.updateTime > timeMs) return { is: "running" };
    const request = (await this.read(".requestWrite", y))?.value;
    if (request === null) return { is: "no error" };
    if (!String(request).startsWith("error: ")) return { is: "pending" };
    return parseError(String(request), value);
  }

  /** Waits until the request is no longer pending. */
  async outcome(signal: AbortSignal, y = 1): Promise<FanState> {
    let state: FanState = { is: "pending" };
    await eventually(signal, async () => {
      state = await this.check(y);
      assert.notEqual(state.is, "pending");
    });
    return state;
  }
}

/** Parses an error text. The message may contain commas: the time follows the last one, and the bad value is known. */
function parseError(text: string, badValue: string): FanState {
  const time = text.slice(text.lastIndexOf(", ") + 2);
  const rest = text.slice("error: ".length, -`, ${time}`.length);
  assert.ok(rest.endsWith(`, ${badValue}`), text);
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return { is: "error", message: rest.slice(0, -`, ${badValue}`.length), badValue, time };
}

/** A linked, live house and a client that runs its fans. */
export async function fanHouse(t: TestContext, plan: WorldPlan = {}) {
  const story = await world(t, { structures: [{ thermostats: 3, alarms: 1 }], ...plan });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "live"));
  const v3 = await clientOfUser(() => story.service, "Story", person);
  // With a faster clock the service's time differs from ours, unless it uses the database's clock.
  const now = story.config.databaseUrl ? Date.now : story.nowMs;
  return {
    story,
    deviceId,
    v3,
    fan: new FanClient(v3, deviceId, now),
    /** The commands in the simulator's own record: the ecosystem must never get one twice. */
    received: () => commandsReceivedBy(story),
    receipts: async () => {
      const kept = await story.service.parts.federation.receipts(story.userId, deviceId);
      return kept.map(({ value, state, text }) => ({ value, state, text }));
    },
  };
}

function commandsReceivedBy({ simulator, accountId }: Pick<World, "simulator" | "accountId">) {
  const commands = simulator.log().filter((entry) => entry.kind === "command" && entry.accountId === accountId);
  return commands.map(({ status, body }) => ({ status, body }));
}
