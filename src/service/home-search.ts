import type { Alerts, ThingAlerts } from "../alerts/alerts.ts";
import type { HomeParts } from "../cli/administration/homes/home-parts.ts";
import type { FoundInHomes, HomeSearch } from "../cli/administration/homes/home-search.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../model/ids.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { ThingReading } from "../own-things/thing-reading.ts";
import type { OpenStore, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";

interface Sources {
  readonly store: Pick<OpenStore, "read">;
  readonly homes: Pick<HomeParts, "findThings">;
  readonly things: Pick<ThingReading, "some">;
  readonly ownThings: Pick<OwnThings, "ids">;
  readonly alerts: { readonly onThings: Pick<ThingAlerts, "listed"> } & Partial<Alerts>;
}

type Found<Kind extends keyof Omit<FoundInHomes, "areAllCompared">> = Omit<FoundInHomes[Kind][number], "userName">;

const mostOfEach = 10;
/** Things and devices that are compared by name, and how many of them one statement reads. */
const mostCompared = 1_500;
const thingsAtOnce = 100;
const devicesAtOnce = 300;
/** Ids are 32-bit integers. */
const isNumber = /^[1-9]\d{0,9}$/;
const largestId = 2_147_483_647;

/** Finds things, own devices and alerts. An id is found by an index; names are compared in a bounded part of the lists. */
export function homeSearch({ store, homes, things, ownThings, alerts }: Sources): HomeSearch {
  return {
    async find(text, tenantIds) {
      const number = isNumber.test(text) && Number(text) <= largestId ? Number(text) : undefined;
      const [thing, device, alert, namedThings, namedDevices] = await Promise.all([
        /^t_[\w-]{22}$/.test(text) ? thingById(text, tenantIds) : [],
        number === undefined ? [] : deviceById(number as DeviceId, tenantIds),
        number === undefined ? [] : alertById(number as TriggerId, tenantIds),
        thingsByName(text, tenantIds),
        store.read((tx) => devicesByName(tx, text, tenantIds)),
      ]);
      const found = {
        things: unique([...thing, ...namedThings.found], ({ thingId }) => thingId),
        devices: unique([...device, ...namedDevices.found], ({ deviceId }) => deviceId),
        alerts: alert,
      };
      const names = await userNames([...found.things, ...found.devices, ...found.alerts].map(({ userId }) => userId));
      const owned = <Item extends { readonly userId: UserId }>(items: readonly Item[]) =>
        items.map((item) => ({ ...item, userName: names.get(item.userId) ?? "" }));
      return {
        things: owned(found.things),
        devices: owned(found.devices),
        alerts: owned(found.alerts),
        areAllCompared: namedThings.isAll && namedDevices.isAll,
      };
    },
  };

  async function thingById(thingId: string, tenantIds: readonly TenantId[]): Promise<readonly Found<"things">[]> {
    const ownDevice = ownThings.ids.deviceOf(thingId);
    const owners = await store.read(async (tx) =>
      ownDevice === undefined
        ? tx.things.ownersOf(thingId, tenantIds)
        : (await tx.devices.someOfTenants([ownDevice], tenantIds)).map(({ userId }) => userId),
    );
    const found = await Promise.all(owners.map((userId) => things.some(userId, [thingId])));
    return found
      .flat()
      .map(({ userId, deviceId, name, kind, room }) => ({ userId, thingId, deviceId, name, kind, room }));
  }

  async function deviceById(id: DeviceId, tenantIds: readonly TenantId[]): Promise<readonly Found<"devices">[]> {
    return (await store.read((tx) => tx.devices.someOfTenants([id], tenantIds))).map(shownDevice);
  }

  async function alertById(id: TriggerId, tenantIds: readonly TenantId[]): Promise<readonly Found<"alerts">[]> {
    const found = await alerts.onThings.listed({ tenantIds, id, limit: 1 });
    return found.map(({ id: alertId, userId }) => ({ alertId, userId }));
  }

  async function thingsByName(text: string, tenantIds: readonly TenantId[]) {
    const wanted = text.toLowerCase();
    const { things: found, next } = await homes.findThings({
      tenantIds,
      isWanted: ({ name, goneMs }) => goneMs === null && (name ?? "").toLowerCase().includes(wanted),
      after: undefined,
      limit: thingsAtOnce,
      portions: mostCompared / thingsAtOnce,
    });
    const shown = found.slice(0, mostOfEach).map(({ userId, thingId, deviceId, name, kind, room }) => {
      return { userId, thingId, deviceId, name, kind, room };
    });
    return { found: shown, isAll: next === undefined && found.length <= mostOfEach };
  }

  async function userNames(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const users = await store.read((tx) => tx.users.some([...new Set(userIds)]));
    return new Map(users.map(({ id, name }) => [id, name]));
  }
}

async function devicesByName({ devices }: Pick<Transaction, "devices">, text: string, tenantIds: readonly TenantId[]) {
  const wanted = text.toLowerCase();
  const found: Found<"devices">[] = [];
  let statements = mostCompared / devicesAtOnce;
  for (const tenantId of tenantIds.toSorted((a, b) => a - b)) {
    for (let afterId = 0; ; ) {
      if (statements-- === 0 || found.length >= mostOfEach) return { found: found.slice(0, mostOfEach), isAll: false };
      const place = { afterId, typeName: undefined };
      const page = await devices.page({ kind: "enterprise", tenantId }, place, devicesAtOnce);
      found.push(...page.filter((one) => !one.isVirtual && one.name.toLowerCase().includes(wanted)).map(shownDevice));
      if (page.length < devicesAtOnce) break;
      afterId = page.at(-1)!.id;
    }
  }
  return { found: found.slice(0, mostOfEach), isAll: found.length <= mostOfEach };
}

function shownDevice({ id: deviceId, userId, name, typeName }: DeviceRow): Found<"devices"> {
  return { deviceId, userId, name, typeName };
}

function unique<Item>(items: readonly Item[], key: (item: Item) => unknown): readonly Item[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
