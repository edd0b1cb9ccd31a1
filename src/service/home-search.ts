import type { Alerts, ThingAlerts } from "../alerts/alerts.ts";
import type { FoundInHomes, HomeSearch } from "../cli/administration/homes/home-search.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../model/ids.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { ThingReading } from "../own-things/thing-reading.ts";
import type { OpenStore } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import { findNames } from "./name-search.ts";

interface Sources {
  readonly store: Pick<OpenStore, "read">;
  readonly things: Pick<ThingReading, "some">;
  readonly ownThings: Pick<OwnThings, "ids">;
  readonly alerts: { readonly onThings: Pick<ThingAlerts, "listed"> } & Partial<Alerts>;
}

type Found<Kind extends "things" | "devices" | "alerts"> = Omit<FoundInHomes[Kind][number], "userName">;

const mostOfEach = 10;
/** Ids are 32-bit integers. */
const isNumber = /^[1-9]\d{0,9}$/;
const largestId = 2_147_483_647;

/** Finds things, own devices and alerts. An id is found by an index, a name by comparing the names of all homes. */
export function homeSearch({ store, things, ownThings, alerts }: Sources): HomeSearch {
  return {
    async find(text, tenantIds) {
      const number = isNumber.test(text) && Number(text) <= largestId ? Number(text) : undefined;
      const [thing, device, alert, named] = await Promise.all([
        /^t_[\w-]{22}$/.test(text) ? thingById(text, tenantIds) : [],
        number === undefined ? [] : deviceById(number as DeviceId, tenantIds),
        number === undefined ? [] : alertById(number as TriggerId, tenantIds),
        findNames(store, text, tenantIds, mostOfEach + 1),
      ]);
      const devices = await devicesOf(named.devices.slice(0, mostOfEach), tenantIds);
      const ownOnes = devices.map(({ userId, deviceId }) => ({ userId, thingId: ownThings.ids.thingIdOf(deviceId) }));
      const namedThings = await thingsOf([...named.things.slice(0, mostOfEach + 1), ...ownOnes]);
      const found = {
        things: unique([...thing, ...namedThings], ({ thingId }) => thingId),
        devices: unique([...device, ...devices], ({ deviceId }) => deviceId),
        alerts: alert,
      };
      const names = await userNames([...found.things, ...found.devices, ...found.alerts].map(({ userId }) => userId));
      const owned = <Item extends { readonly userId: UserId }>(items: readonly Item[]) =>
        items.slice(0, mostOfEach).map((item) => ({ ...item, userName: names.get(item.userId) ?? "" }));
      return {
        things: owned(found.things),
        devices: owned(found.devices),
        alerts: owned(found.alerts),
        hasMore: found.things.length > mostOfEach || named.devices.length > mostOfEach,
        areAllCompared: named.areAllCompared,
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
    return thingsOf(owners.map((userId) => ({ userId, thingId })));
  }

  /** Those of the things that are there; an own device has a thing only if its type has a trait map. */
  async function thingsOf(
    wanted: readonly { readonly userId: UserId; readonly thingId: string }[],
  ): Promise<readonly Found<"things">[]> {
    const ofUsers = Map.groupBy(wanted, ({ userId }) => userId);
    const found = await Promise.all(
      [...ofUsers].map(([userId, ofUser]) =>
        things.some(
          userId,
          ofUser.map(({ thingId }) => thingId),
        ),
      ),
    );
    const shown = found.flat().map(({ userId, thingId, deviceId, name, kind, room }) => {
      return { userId, thingId, deviceId, name, kind, room };
    });
    const place = new Map(wanted.map(({ thingId }, index) => [thingId, index]));
    return shown.toSorted((a, b) => place.get(a.thingId)! - place.get(b.thingId)!);
  }

  async function deviceById(id: DeviceId, tenantIds: readonly TenantId[]): Promise<readonly Found<"devices">[]> {
    return (await store.read((tx) => tx.devices.someOfTenants([id], tenantIds))).map(shownDevice);
  }

  async function devicesOf(
    wanted: readonly { readonly deviceId: DeviceId }[],
    tenantIds: readonly TenantId[],
  ): Promise<readonly Found<"devices">[]> {
    if (wanted.length === 0) return [];
    const ids = wanted.map(({ deviceId }) => deviceId);
    const rows = await store.read((tx) => tx.devices.someOfTenants(ids, tenantIds));
    return rows.map(shownDevice).toSorted((a, b) => ids.indexOf(a.deviceId) - ids.indexOf(b.deviceId));
  }

  async function alertById(id: TriggerId, tenantIds: readonly TenantId[]): Promise<readonly Found<"alerts">[]> {
    const found = await alerts.onThings.listed({ tenantIds, id, limit: 1 });
    return found.map(({ id: alertId, userId }) => ({ alertId, userId }));
  }

  async function userNames(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const users = await store.read((tx) => tx.users.some([...new Set(userIds)]));
    return new Map(users.map(({ id, name }) => [id, name]));
  }
}

function shownDevice({ id: deviceId, userId, name, typeName }: DeviceRow): Found<"devices"> {
  return { deviceId, userId, name, typeName };
}

function unique<Item>(items: readonly Item[], key: (item: Item) => unknown): readonly Item[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
