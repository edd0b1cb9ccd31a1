import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import type { DeviceId } from "../../src/model/ids.ts";
import { EventStream } from "../events/event-stream.ts";
import { send } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import type { Cluster } from "../set-up/postgres.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { V3Client } from "../stories/v3-client.ts";
import { eventuallySlowly, type Fleet, type FleetNode, type LinkedHome, startFleet } from "./fleet.ts";
import { type Guest, inviteGuests, tokensFor } from "./guests.ts";
import { SincePoller } from "./since-poller.ts";

const hourMs = 3_600_000;
const fan = "d.structures[1].d.thermostats[1].fan_timer_active";

/**
 * One node's clock is right, one is an hour ahead, one an hour behind. Links move between all of them. Clients can't
 * notice: times rise, no event is skipped, no token expires early, and every reported time is the database's.
 */
export async function liveWithClocksApart(
  test: TestContext,
  cluster: Cluster,
  { links }: { readonly links: number },
): Promise<void> {
  const { signal } = test;
  const environment = { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" };
  const fleet = await startFleet(test, cluster, { links, clocksMs: [0, hourMs, -hourMs], environment });
  const [right, ahead, behind] = fleet.nodes as [FleetNode, FleetNode, FleetNode];
  const accounts = fleet.homes.map(({ accountId }) => accountId);
  await fleet.untilShared(signal);
  const world = await ClockWorld.open(test, fleet, ahead);
  await world.assertFresh();
  await world.runFans("true");
  await fleet.change(accounts);
  await fleet.change(accounts);
  await world.writeLamps();
  await fleet.untilMirrored(signal);

  const frozen = await fleet.accountsOf(behind);
  assert.ok(frozen.length > 0);
  world.living = [right, ahead];
  behind.service.process.kill("SIGSTOP");
  await eventuallySlowly(signal, async () => assert.deepEqual(await fleet.accountsOf(behind), []));
  await fleet.change(frozen);
  await world.writeLamps();
  await fleet.untilMirrored(signal);
  await world.assertBlindFor(frozen);
  behind.service.process.kill("SIGCONT");
  world.living = [right, ahead, behind];
  await fleet.change(frozen);
  await fleet.untilShared(signal);
  await world.assertFresh();

  const orphaned = await fleet.accountsOf(ahead);
  assert.ok(orphaned.length > 0);
  world.living = [right, behind];
  ahead.service.process.kill("SIGKILL");
  await fleet.untilShared(signal, world.living);
  await world.assertFresh();
  await world.assertBlindFor(orphaned);
  await fleet.untilMirrored(signal);
  await world.runFans("false");
  await world.writeLamps();

  const another = await fleet.startNode("ahead again", { clockMs: hourMs });
  world.living = [right, another];
  await world.listenAt(another);
  behind.service.process.kill("SIGTERM");
  assert.equal(await behind.service.ended, 0);
  await fleet.untilShared(signal, world.living);
  await world.writeLamps();
  await world.runFans("true");
  await fleet.change(accounts, { smoke: true });
  await fleet.change(accounts);
  await fleet.untilMirrored(signal);
  await world.assertFresh();
  await world.assertNothingMissed();
  await world.assertTimesRise();
  await fleet.assertFiredOnce();
}

/** The clients of the fleet. They call any live node. */
class ClockWorld {
  readonly #test: TestContext;
  readonly #fleet: Fleet;
  readonly #tenant: V3Client;
  readonly #guest: Guest;
  readonly #hook: Awaited<ReturnType<typeof receiver>>;
  readonly #secret: string;
  readonly #pollers = new Map<DeviceId, SincePoller>();
  readonly #streams: EventStream[] = [];
  readonly #startedMs = Date.now();
  /** The first error of a poller. */
  readonly #wrong: unknown[] = [];
  #lampWrites = 0;
  #fanRequests = 0;
  #asked = 0;
  living: readonly FleetNode[];

  static async open(test: TestContext, fleet: Fleet, ahead: FleetNode): Promise<ClockWorld> {
    const living = [...fleet.nodes];
    let asked = 0;
    const anyNode = () => living[asked++ % living.length]!.service.baseUrl;
    const [guest] = (await inviteGuests(fleet, { people: 1, lamps: 1 }, anyNode)) as [Guest];
    // A code or token of a node that is an hour ahead is valid at a node that is an hour behind.
    let held = guest;
    for (let i = 0; i < living.length; i++) {
      const { client, refreshToken } = held;
      const request = { ...client, grant_type: "refresh_token", refresh_token: refreshToken };
      held = { ...held, ...(await tokensFor(anyNode(), request)) };
      for (const { service } of living) {
        await new V3Client(() => service.baseUrl, held.accessToken).device(guest.devices[0]!);
        const platform = new PlatformClient(() => service.baseUrl);
        platform.secToken = held.secToken;
        await platform.device(guest.devices[0]!);
      }
    }
    const wanted = {
      tenant: "Fleet",
      name: "Watch",
      kind: "enterprise",
      redirectUris: [],
      requiresPkce: false,
    } as const;
    const made = await fleet.parts.oauth.addClient(wanted);
    const given = { client_id: made.client.id, client_secret: made.secret, grant_type: "client_credentials" };
    const { accessToken } = await tokensFor(ahead.service.baseUrl, given);
    const hook = await receiver(test);
    const { status, body } = await send(`${anyNode()}/v3/webhooks`, held.accessToken, "POST", { url: hook.url });
    assert.equal(status, 201, JSON.stringify(body));
    const tenant = new V3Client(() => anyNode(), accessToken);
    const world = new ClockWorld({ test, fleet, living, tenant, guest: held, hook, secret: body.secret });
    await world.#listen();
    return world;
  }

  private constructor(given: {
    readonly test: TestContext;
    readonly fleet: Fleet;
    readonly living: readonly FleetNode[];
    readonly tenant: V3Client;
    readonly guest: Guest;
    readonly hook: Awaited<ReturnType<typeof receiver>>;
    readonly secret: string;
  }) {
    this.#test = given.test;
    this.#fleet = given.fleet;
    this.living = given.living;
    this.#tenant = given.tenant;
    this.#guest = given.guest;
    this.#hook = given.hook;
    this.#secret = given.secret;
    for (const { deviceId } of given.fleet.homes) {
      this.#pollers.set(deviceId, new SincePoller(given.tenant, deviceId));
    }
  }

  async listenAt({ service }: FleetNode): Promise<void> {
    const stream = await EventStream.open(service.baseUrl, this.#tenant.accessToken);
    // The stream of a killed node breaks, as for any client.
    stream.ended.catch(() => undefined);
    this.#streams.push(stream);
  }

  /** Every node shows every home as linked and fresh, confirmed at a time of the right clock. */
  assertFresh(): Promise<void> {
    return eventuallySlowly(this.#test.signal, async () => {
      for (const { name, service } of this.living) {
        for (const { deviceId } of this.#fleet.homes) {
          const { stale, presenceInfo, confirmedTime } = await this.#tenant.at(service.baseUrl).device(deviceId);
          const shown = JSON.stringify({ name, deviceId, stale, presenceInfo, confirmedTime });
          assert.ok(stale === false && Number(presenceInfo) === 1, shown);
          this.#assertRight(confirmedTime, shown);
        }
      }
    });
  }

  /** The last blind interval of those homes is reported with its start and end. */
  async assertBlindFor(accounts: readonly string[]): Promise<void> {
    for (const { accountId, userId } of this.#fleet.homes) {
      if (!accounts.includes(accountId)) continue;
      const platform = new PlatformClient(() => this.#anyNode().service.baseUrl);
      platform.secToken = await this.#fleet.parts.identity.issueFor(userId);
      await eventuallySlowly(this.#test.signal, async () => {
        const { blindIntervals } = await platform.linkStatus();
        const { from, to, cause } = blindIntervals.at(-1);
        const shown = JSON.stringify(blindIntervals.at(-1));
        assert.equal(cause, "not followed by any node", shown);
        assert.ok(to > from, shown);
        for (const time of [from, to]) this.#assertRight(time, shown);
      });
    }
  }

  /** Turns the fan in every home at once: written at any node, sent by the owner node, read at a third node. */
  async runFans(value: "true" | "false"): Promise<void> {
    await Promise.all(this.#fleet.homes.map((home) => this.#runFan(home, value)));
    const sent = this.#fleet.simulator.log().filter(({ kind }) => kind === "command").length;
    assert.equal(sent, this.#fanRequests, "each request was sent once");
  }

  async writeLamps(): Promise<void> {
    const [lamp] = this.#guest.devices as [DeviceId];
    for (let i = 0; i < 5; i++) {
      const { baseUrl } = this.#anyNode().service;
      const count = String(this.#lampWrites++);
      await new V3Client(() => baseUrl, this.#guest.accessToken).write(lamp, { count });
    }
  }

  /** The client with `since`, the streams and the webhook have received all changes. */
  async assertNothingMissed(): Promise<void> {
    for (const poller of this.#pollers.values()) {
      await poller.poll(this.#anyNode().service.baseUrl);
      await poller.assertWhole(this.#anyNode().service.baseUrl);
    }
    assert.deepEqual(this.#wrong, []);
    const [first] = this.#streams as [EventStream];
    // The first heartbeat at the start has the database's time, the next ones the node's estimate of it.
    await this.#streams.at(-1)!.until(2, ({ name }) => name === "heartbeat");
    for (const { name, data } of this.#streams.flatMap(({ received }) => received)) {
      if (name === "heartbeat") this.#assertRight(data.time, "a heartbeat");
    }
    // A stream that another node serves from the beginning has the same events.
    const told = first.events;
    const again = await EventStream.open(this.living.at(-1)!.service.baseUrl, this.#tenant.accessToken, {
      lastEventId: first.received[0]!.id,
    });
    assert.deepEqual((await again.until(told.length)).slice(0, told.length), told);
    again.close();
    await this.#assertDelivered();
  }

  /** Times in the log rise strictly for each device, and are on the right clock. */
  async assertTimesRise(): Promise<void> {
    const { rows } = await this.#fleet.sql.query(
      "SELECT device_id, time_ms::float8 AS time_ms FROM log WHERE kind = 'attribute' ORDER BY device_id, id",
    );
    rows.forEach(({ device_id, time_ms }, i) => {
      const before = rows[i - 1];
      const shown = `device ${device_id}: ${before?.time_ms}, then ${time_ms}`;
      if (before?.device_id === device_id) assert.ok(time_ms > before.time_ms, shown);
      this.#assertRight(time_ms, shown);
    });
    assert.ok(rows.length > 0);
    this.#test.diagnostic(
      `${rows.length} commits, ${this.#fanRequests} fan requests, ${this.#hook.received.length} webhooks`,
    );
  }

  /** After each event of the stream, the device is read at any node. */
  async #listen(): Promise<void> {
    for (const node of this.living) await this.listenAt(node);
    for (const poller of this.#pollers.values()) await poller.poll(this.#anyNode().service.baseUrl);
    const [first] = this.#streams as [EventStream];
    void this.#followEvents(first).catch((error) => this.#wrong.push(error));
    this.#test.after(() => {
      for (const stream of this.#streams) stream.close();
    });
  }

  async #followEvents(stream: EventStream): Promise<void> {
    for (let told = 1; ; told++) {
      const event = (await stream.until(told, ({ name }) => name === "attribute"))[told - 1]!;
      const poller = this.#pollers.get(event.data.deviceId)!;
      await poller.poll(this.#anyNode().service.baseUrl);
      poller.assertHas(event);
    }
  }

  async #runFan({ deviceId }: LinkedHome, value: string): Promise<void> {
    this.#fanRequests += 1;
    const { baseUrl } = this.#anyNode().service;
    await this.#tenant.at(baseUrl).write(deviceId, { [`${fan}.requestWrite`]: value });
    await eventuallySlowly(this.#test.signal, async () => {
      const elsewhere = this.#tenant.at(this.#anyNode().service.baseUrl);
      const { commands } = (await elsewhere.call(`/devices/${deviceId}/commands`)).body;
      const { state, requestedTime, sentTime, settledTime, ...rest } = commands[0];
      assert.equal(state, "confirmed", JSON.stringify({ state, ...rest }));
      assert.ok(requestedTime <= sentTime && sentTime <= settledTime, JSON.stringify(commands[0]));
      this.#assertRight(requestedTime, "a fan request");
      const shown = (await elsewhere.attributes(deviceId, { attribute: fan }))[fan]!;
      assert.ok(shown.value === value && shown.updateTime > requestedTime, JSON.stringify({ shown, requestedTime }));
    });
  }

  async #assertDelivered(): Promise<void> {
    const { received } = this.#hook;
    const counts = () => [...new Set(received.map(({ message }) => Number(message.data.attributes.count)))];
    const wanted = Array.from({ length: this.#lampWrites }, (_, i) => i);
    await eventuallySlowly(this.#test.signal, () => assert.deepEqual(counts(), wanted));
    // The receiver's clock is right, and it accepts a signature for five minutes.
    for (const { body, headers } of received) new Webhook(this.#secret).verify(body, { ...headers });
  }

  #anyNode(): FleetNode {
    return this.living[this.#asked++ % this.living.length]!;
  }

  /** Asserts that the time is within this test: a time of a wrong clock would be an hour away. */
  #assertRight(timeMs: number, shown: string): void {
    assert.ok(Math.abs(timeMs - this.#startedMs) < hourMs / 2, `${shown} is ${timeMs}, begun at ${this.#startedMs}`);
  }
}
