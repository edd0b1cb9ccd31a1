import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import type { ProxyMood } from "../set-up/fault-proxy.ts";
import type { Cluster } from "../set-up/postgres.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { V3Client } from "../stories/v3-client.ts";
import { eventuallySlowly, type Fleet, type FleetNode, startFleet } from "./fleet.ts";
import { type Guest, inviteGuests } from "./guests.ts";
import { type ReadResult, type Shown, type WayToRead, waysToRead } from "./ways-to-read.ts";

export interface ReadYourWritePlan {
  /** How many times a value is written at one node and then read at another. */
  readonly pairs: number;
  /** How often a node's connection to the database breaks, each time in another way. */
  readonly breaks: number;
}

const ways = Object.entries(waysToRead);

/**
 * A write that was acknowledged at one node is visible at every other node from then on, by every kind of read. Writes
 * and reads go to random nodes, with several concurrent writers for each device. A read that is concurrent with a write
 * shows the old or the new value. A node that can't reach the database answers with an error, never from its cache.
 */
export async function readYourWrites(test: TestContext, cluster: Cluster, plan: ReadYourWritePlan): Promise<void> {
  const fleet = await startFleet(test, cluster, { links: 0 });
  let asked = 0;
  const anyNode = () => fleet.nodes[asked++ % fleet.nodes.length]!.service.baseUrl;
  const guests = await inviteGuests(fleet, { people: 2, lamps: 2 }, anyNode);
  const writers = guests.flatMap((guest) =>
    guest.devices.flatMap((deviceId) => ["a", "b"].map((name) => new Writer(guest, deviceId, name))),
  );
  for (const writer of writers) await writer.write(pick(fleet.nodes));
  const counts = new Map<string, number>();
  let left = plan.pairs;
  await Promise.all(
    writers.map(async (writer) => {
      while (left-- > 0) {
        const [wayName, way] = pick(ways);
        await writer.writeAndRead(shuffled(fleet.nodes), way, wayName);
        counts.set(wayName, (counts.get(wayName) ?? 0) + 1);
      }
    }),
  );
  test.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  for (const mood of (["half-open", "closed", "cut"] as const).slice(0, plan.breaks)) {
    test.diagnostic(`${mood}: ${await readInTheDark(test.signal, fleet, writers, mood)}`);
  }
}

/** The only writer of two attributes of a device, so it knows their values. */
class Writer {
  readonly guest: Guest;
  readonly deviceId: DeviceId;
  readonly names: readonly [string, string];
  #acknowledged: Shown = [null, null];
  #latestMs = 0;
  #count = 0;

  constructor(guest: Guest, deviceId: DeviceId, name: string) {
    this.guest = guest;
    this.deviceId = deviceId;
    this.names = [`${name}1`, `${name}2`];
  }

  /** Writes at one node, sometimes while it reads at the other all the time, and then reads at the other. */
  async writeAndRead(nodes: readonly FleetNode[], way: WayToRead, wayName: string): Promise<void> {
    const [here, there] = nodes as [FleetNode, FleetNode];
    const sinceMs = this.#latestMs;
    const before = this.#acknowledged;
    const writing = this.#write(here);
    // The node's cache is loaded and used while the value changes.
    const crossing = this.#count % 3 === 0 ? this.#readUntil(there, writing, sinceMs) : undefined;
    const after = await writing;
    this.#acknowledged = after;
    const told = await this.#read(there, way, sinceMs);
    this.#assertShown(told, [after], `after a write at ${here.name}, ${there.name} showed by ${wayName}`);
    assert.notEqual(told!.shown[0], undefined, `${there.name} told nothing of the change by ${wayName}`);
    this.#latestMs = Math.max(this.#latestMs, told!.latestMs);
    for (const crossed of (await crossing) ?? []) {
      this.#assertShown(crossed, [before, after], `during a write at ${here.name}, ${there.name} showed`);
    }
  }

  /** Reads at the node; returns whether it answered. The value must not be older than the last acknowledged one. */
  async readWhere(node: FleetNode, way: WayToRead, wayName: string): Promise<boolean> {
    const told = await this.#read(node, way, this.#latestMs);
    if (told) this.#assertShown(told, [this.#acknowledged], `${node.name}, which was cut off, showed by ${wayName}`);
    return told !== undefined;
  }

  async write(node: FleetNode): Promise<void> {
    this.#acknowledged = await this.#write(node);
  }

  /** Writes both attributes, or only the first by a platform call, or erases them. */
  async #write(node: FleetNode): Promise<Shown> {
    const { guest, deviceId, names } = this;
    const { baseUrl } = node.service;
    this.#count += 1;
    const value = this.#count % 7 === 0 ? null : `${this.names[0]} ${this.#count}`;
    if (this.#count % 3 > 0) {
      const written = { [names[0]]: value, [names[1]]: value };
      await new V3Client(() => baseUrl, guest.accessToken).write(deviceId, written);
      return [value, value];
    }
    const given = { secToken: guest.secToken, devId: String(deviceId), name: names[0], value: value ?? "" };
    const answer = await new PlatformClient(() => baseUrl).call("setDeviceAttribute", given);
    assert.equal(answer.setDeviceAttributeResponse?.retCode, "0", JSON.stringify(answer));
    return [value, this.#acknowledged[1]];
  }

  #read(node: FleetNode, way: WayToRead, sinceMs: number): Promise<ReadResult | undefined> {
    const { guest, deviceId, names } = this;
    return way(node.service.baseUrl, { guest, deviceId, names, sinceMs });
  }

  /** All answers until the write is acknowledged. */
  async #readUntil(
    node: FleetNode,
    writing: Promise<unknown>,
    sinceMs: number,
  ): Promise<readonly (ReadResult | undefined)[]> {
    let isWritten = false;
    const done = () => {
      isWritten = true;
    };
    writing.then(done, done);
    const told: (ReadResult | undefined)[] = [];
    while (!isWritten) told.push(await this.#read(node, pick(ways)[1], sinceMs));
    return told;
  }

  /** The answer equals one of these states completely. */
  #assertShown(told: ReadResult | undefined, allowed: readonly Shown[], sentence: string): void {
    assert.ok(told, `${sentence} nothing`);
    const { shown } = told;
    const isAllowed = allowed.some((one) => one.every((value, i) => shown[i] === undefined || shown[i] === value));
    assert.ok(
      isAllowed,
      `${sentence} ${JSON.stringify(shown)} of device ${this.deviceId}, not ${allowed.join(" or ")}`,
    );
  }
}

/** Reads at a node that has lost the database. Some may be answered, none with an old value. */
async function readInTheDark(
  signal: AbortSignal,
  { nodes }: Fleet,
  writers: readonly Writer[],
  mood: ProxyMood,
): Promise<string> {
  const [one, another, dark] = nodes as [FleetNode, FleetNode, FleetNode];
  const askAll = async (writer: Writer) => {
    const said = await Promise.all(ways.map(([wayName, way]) => writer.readWhere(dark, way, wayName)));
    return said.filter((isSaid) => isSaid).length;
  };
  // Fills the node's cache.
  for (const writer of writers) assert.equal(await askAll(writer), ways.length);
  dark.proxy.mood = mood;
  if (mood === "closed") dark.proxy.drop();
  const answered = await Promise.all(
    writers.map(async (writer) => {
      await writer.write(pick([one, another]));
      return askAll(writer);
    }),
  );
  dark.proxy.mood = "open";
  dark.proxy.drop();
  await eventuallySlowly(signal, async () => {
    for (const writer of writers) assert.equal(await askAll(writer), ways.length);
  });
  const sum = answered.reduce((total, count) => total + count, 0);
  const asked = writers.length * ways.length;
  assert.ok(sum < asked, "it could reach the database all the time");
  return `${asked - sum} of ${asked} reads were refused, the others showed what was so`;
}

function pick<One>(some: readonly One[]): One {
  return some[Math.floor(Math.random() * some.length)]!;
}

function shuffled<One>(some: readonly One[]): readonly One[] {
  return some
    .map((one) => ({ one, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}
