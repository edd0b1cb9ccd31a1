import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import type { StoreHarness } from "../contracts/store/harness.ts";
import { onStore } from "../contracts/store/harness.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { seededRandom } from "../set-up/seeded-random.ts";
import { home } from "./made-homes.ts";
import { type House, madeStreet, type Street } from "./made-street.ts";
import { type FaultPoint, faultPoints } from "./planted-fault.ts";

const pausedReason = /^paused after an internal error; next try in \d+ s \(error id [0-9a-f]{8}\)$/;
const tokenReason = "its token can't be opened with the keys of this node";
const away = structureAttribute(1, "away");

describe("a fault in one account affects no other", () => {
  it("in throws at random points of the work for one of 100 links", { timeout: 600_000 }, (t) =>
    throwsOn(t, sqliteHarness, { links: 100, throws: rounds({ all: 200, few: 24 }) }),
  );

  it("in throws on PostgreSQL", { timeout: 600_000, skip: missingPostgres() ?? false }, (t) =>
    throwsOn(t, postgresHarness, { links: 30, throws: rounds({ all: 48, few: 16 }) }),
  );
});

async function throwsOn(t: TestContext, harness: StoreHarness, plan: { links: number; throws: number }) {
  const random = seededRandom(t);
  await onStore(harness, async (store) => {
    const street = await madeStreet(t, store, plan.links, { random });
    const pick = <One>(all: readonly One[]): One => all[Math.floor(random() * all.length)]!;
    const points = new Map<FaultPoint, number>();
    for (let i = 0; i < plan.throws; i++) {
      const point = faultPoints[i % faultPoints.length]!;
      await throwOnce(street, pick(street.houses), point, random, pick);
      points.set(point, (points.get(point) ?? 0) + 1);
    }
    assert.deepEqual([...points.keys()], [...faultPoints]);
  });
}

/** Makes the work for one house throw, and checks that all others are unchanged and that the house recovers. */
async function throwOnce(
  street: Street,
  house: House,
  point: FaultPoint,
  random: () => number,
  pick: <One>(all: readonly One[]) => One,
): Promise<void> {
  const others = street.houses.filter((one) => one !== house);
  const before = others.map((one) => ({ stream: one.streams.at(-1), standing: street.standing(one) }));
  street.kinds.length = 0;
  street.blind.length = 0;
  await provoke(street, house, point, random);

  assert.ok(street.kinds.length > 0, `a throw at ${point} was not counted`);
  await assertReasonShown(street, house, point);
  const neighbour = pick(others);
  const next = neighbour.account.structures.byId.get("s1");
  const isAway = next?.isRead && next.object.presence?.state.state === "away";
  street.bring(neighbour, home({ away: isAway ? "home" : "away" }));
  await street.until(
    async () => (await street.value(neighbour, away)) === (isAway ? "home" : "away"),
    "a neighbour's change is stored",
  );

  street.fault.remove();
  await street.until(() => street.isSettled(house), `the link is live again after a throw at ${point}`);
  others.forEach((other, i) => {
    assert.ok(other.streams.at(-1) === before[i]!.stream && before[i]!.stream?.isOpen, "another's stream was ended");
    assert.equal(street.standing(other), before[i]!.standing, "another link changed its state");
  });
  assert.deepEqual(
    street.blind.filter((deviceId) => deviceId !== house.deviceId),
    [],
    "another link has a blind interval",
  );
}

/** Plants the fault and triggers the work that reaches it. */
async function provoke(street: Street, house: House, point: FaultPoint, random: () => number): Promise<void> {
  const { fault } = street;
  const stream = () => house.streams.at(-1)!;
  const change = () => street.bring(house, home({ name: `name ${Math.floor(random() * 1e9)}`, fan: random() < 0.5 }));
  const isThrown = () => fault.thrown > 0;
  const persistent = 100;
  const at: Partial<Record<FaultPoint, () => Promise<void> | void>> = {
    async account() {
      // The lane retries a snapshot before it gives up.
      fault.plant(house.userId, point, { times: persistent });
      change();
    },
    async unchanged() {
      // An equal put reads the clock for its confirmation, which can throw.
      fault.plant(house.userId, "nowMs");
      stream().repeats();
      await street.until(isThrown, "a repetition throws");
    },
    async read() {
      // The second look follows about ten minutes after the last snapshot.
      stream().repeats();
      await street.runtime.advance(8 * 60_000);
      while (!isThrown()) await street.runtime.advance(500);
    },
    act: () => street.askFan(house, "true"),
    async commit() {
      fault.plant(house.userId, point, { times: persistent });
      change();
    },
    async load() {
      fault.plant(house.userId, "follow rejects");
      stream().ends("closed");
      await street.until(isThrown, "the stream fails");
      fault.plant(house.userId, "load", { times: persistent });
    },
    async "open token"() {
      fault.plant(house.userId, "follow rejects");
      stream().ends("closed");
      await street.until(isThrown, "the stream fails");
      fault.plant(house.userId, "open token");
    },
    async random() {
      // The jitter of the next second look.
      change();
    },
    async after() {
      change();
    },
  };
  const isClockwork = point === "nowMs" || point === "elapsedMs" || point === "report";
  const passes = point === "report" ? 2 : isClockwork ? 4 : 1;
  fault.plant(house.userId, point, { skip: Math.floor(random() * passes) });
  street.kinds.length = 0;
  await at[point]?.();
  if (!at[point] || !isThrown()) await lead();
  await street.until(() => isThrown() && street.kinds.length > 0, `the work passes ${point}`);

  async function lead(): Promise<void> {
    if (at[point]) return;
    if (isClockwork) change();
    stream().ends("closed");
  }
}

async function assertReasonShown(street: Street, house: House, point: FaultPoint): Promise<void> {
  const { state, reason, isPresent, blindIntervals } = await street.status(house);
  const { pausedBy } = street.federation.keeper.supervisor(house.deviceId)!;
  if (point === "act") return assert.ok(street.kinds.includes("command"));
  if (point === "record") return assert.ok(street.kinds.includes("record"));
  assert.deepEqual([state, isPresent], ["waiting", false], `${point}: ${street.kinds}`);
  if (point === "open token") assert.deepEqual([reason, pausedBy], [tokenReason, "token"]);
  else assert.match(reason, pausedReason, point);
  assert.equal(blindIntervals.at(-1)?.toMs, null, "the blind interval lasts");
}
