import { alertsOn } from "../../src/alerts/alerts.ts";
import { type Commit, commitOn } from "../../src/devices/commit.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { Parts } from "../../src/service/parts.ts";
import type { NewTrigger } from "../../src/store/tables/triggers.ts";
import { structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import { ratios, summary } from "../comparison.ts";
import { prepare, preparedFolder } from "../prepared-folder.ts";
import type { Row } from "../row.ts";
import { addUsers } from "../users.ts";

const [few, many] = [1_000, 1_000_000];
const homes = 100;
const alertsOfDevice = 10;
const addedAtOnce = 500;
const changesInRound = 20;
const [warmUpRounds, measuredRounds] = [2, 7];
const watched = structureAttribute(1, "away");

/** The cost of finding the alerts of a changed attribute must not grow with the number of other alerts. */
export const alertGrowth: Row = {
  name: "alert-growth",
  async measure(progress) {
    using smallFolder = preparedFolder();
    using largeFolder = preparedFolder();
    // The await keeps both folders until the measurement has ended.
    return await prepare(smallFolder, (small) =>
      prepare(largeFolder, async (large) => {
        progress(`making ${few} and ${many} alerts`);
        const sides = { few: await watchedHomes(small, few), many: await watchedHomes(large, many) };
        const figures = { few: [] as number[], many: [] as number[] };
        for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
          for (const name of ["few", "many"] as const) {
            const cpuUs = await sides[name](round);
            if (round >= warmUpRounds) figures[name].push(cpuUs);
          }
        }
        return [
          {
            what: `CPU of a change that ${alertsOfDevice} alerts watch, among ${many} alerts`,
            reference: `the same among ${few}`,
            ...summary(ratios(figures.many, figures.few)),
            unit: "x" as const,
            bar: { atMost: 8 },
          },
          {
            what: `CPU of that change among ${many} alerts`,
            reference: null,
            ...summary(figures.many),
            unit: "us" as const,
            bar: null,
          },
        ];
      }),
    );
  },
};

/** Adds homes with a few alerts each, and many alerts on other devices. The result measures the CPU of one change. */
async function watchedHomes({ store, identity }: Parts, alerts: number): Promise<(round: number) => Promise<number>> {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  const own: { readonly userId: UserId; readonly deviceId: DeviceId }[] = [];
  await store.transaction(async (tx) => {
    for (const userId of await addUsers(tx, tenantId, homes)) {
      const deviceId = await tx.devices.add({ userId, typeName: "EcosystemAccount", name: "Home", isVirtual: true });
      own.push({ userId, deviceId });
    }
  });
  for (let first = 0; first < alerts; first += addedAtOnce) {
    await store.transaction(async (tx) => {
      for (let i = first; i < first + addedAtOnce; i++) await tx.triggers.add(alertAt(i, own));
    });
  }
  const { react } = alertsOn({ store });
  const report = { debug() {}, info() {}, warn() {}, error() {} };
  const commit = commitOn({ store, reactions: [react], committed: () => undefined, report });
  return async (round) => {
    const before = process.cpuUsage();
    for (let i = 0; i < changesInRound; i++) {
      await Promise.all(own.map((home) => change(commit, home, `${round} ${i}`)));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (changesInRound * own.length);
  };
}

function change(commit: Commit, home: { readonly userId: UserId; readonly deviceId: DeviceId }, value: string) {
  const updates = [{ deviceId: home.deviceId, changes: [{ key: watched, value }] }];
  return commit({ userId: home.userId, cause: { by: "ecosystem" }, updates });
}

/** The first alerts watch the homes that change; all others watch devices that do not exist. */
function alertAt(i: number, own: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[]): NewTrigger {
  const number = Math.floor(i / alertsOfDevice);
  const elsewhere = { userId: (1_000 + number) as UserId, deviceId: (1_000 + number) as DeviceId };
  return {
    ...(own[number] ?? elsewhere),
    key: watched,
    attributeName: "d.structures[1].a.away",
    condition: { operation: "equals", text: "away" },
    action: "note",
    targets: [],
    address: "",
    message: "",
    autoDisarm: true,
    autoDelete: false,
    autoDisable: false,
    isEnabled: true,
    isArmed: true,
    reason: null,
    createdMs: 0,
  };
}
