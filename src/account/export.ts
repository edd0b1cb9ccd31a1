import type { AnyTriggerRow, ThingAlerts } from "../alerts/alerts.ts";
import { attributesWithValues, type DevicePage, type DeviceReading } from "../devices/read.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import type { DeviceState } from "../devices/states.ts";
import { wireName, wireValue } from "../devices/wire-attribute.ts";
import type { Audit } from "../identity/audit.ts";
import { TooManyRequests, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { ThingPage, ThingReading } from "../own-things/thing-reading.ts";
import type { AccountApp, AccountApps } from "./apps.ts";
import type { AccountHome, AccountHomes } from "./homes.ts";
import type { AccountUser } from "./sessions.ts";

export interface ExportParts extends Pick<AccountApps, "apps" | "companyApps">, Pick<AccountHomes, "homes"> {
  readonly devices: Pick<DeviceReading, "page" | "state">;
  readonly things: Pick<ThingReading, "page">;
  readonly alerts: { readonly onThings: Pick<ThingAlerts, "pageOfBoth"> };
  readonly audit: Pick<Audit, "record">;
  readonly nowMs: () => number;
  readonly onLimitReached: OnLimitReached;
}

/** A user's data as JSON text, in slices: it is never in memory as a whole. */
export type Export = (user: AccountUser, tenantName: string, source: string) => Promise<AsyncIterable<string>>;

export function exportWith(parts: ExportParts): Export {
  const running = new Map<UserId, number>();
  /** Until when an export counts that was answered and whose first slice was not read yet. */
  const promisedUntilMs = new Map<UserId, number>();
  const refuseMore = (userId: UserId) => {
    const promised = (promisedUntilMs.get(userId) ?? 0) > parts.nowMs() ? 1 : 0;
    if ((running.get(userId) ?? 0) + promised < limits.exportsAtOnce) return;
    parts.onLimitReached("exportsAtOnce");
    throw new TooManyRequests(10, "Your data is being exported already. Wait until that download has ended.");
  };
  /** Counts an export from its first slice to its end, also when the browser breaks it off. */
  async function* counted(userId: UserId, slices: AsyncIterable<string>): AsyncGenerator<string> {
    promisedUntilMs.delete(userId);
    refuseMore(userId);
    running.set(userId, (running.get(userId) ?? 0) + 1);
    try {
      yield* slices;
    } finally {
      const left = running.get(userId)! - 1;
      if (left > 0) running.set(userId, left);
      else running.delete(userId);
    }
  }
  return async (user, tenantName, source) => {
    const { userId, tenantId } = user;
    refuseMore(userId);
    promisedUntilMs.set(userId, parts.nowMs() + promiseMs);
    try {
      await parts.audit.record({ act: "account", tenantId, userId, source, detail: { did: "export" } });
    } catch (error) {
      promisedUntilMs.delete(userId);
      throw error;
    }
    return counted(userId, slicesOf(parts, user, tenantName));
  };
}

/** More than the time from the answer to its first slice. If the browser is gone by then, no slice is read. */
const promiseMs = 10_000;

async function* slicesOf(parts: ExportParts, user: AccountUser, tenantName: string): AsyncGenerator<string> {
  const { userId, name, createdMs } = user;
  const { apps, isComplete } = await parts.apps(user);
  const head = {
    exportedTime: time(parts.nowMs()),
    user: { userId, userName: name, tenantName, createdTime: time(createdMs) },
    links: (await parts.homes(user)).map(shownLink),
    apps: apps.map(shownApp),
    ...(!isComplete && { appsComplete: false }),
    companyApps: (await parts.companyApps(user)).map(shownApp),
  };
  yield JSON.stringify(head).slice(0, -1);
  yield* member("devices", devicesOf(parts, userId));
  yield* member("things", thingsOf(parts, userId));
  yield* member("alerts", alertsOf(parts, userId));
  yield "}\n";
}

/** A member of the object whose value is a list. */
async function* member(name: string, items: AsyncIterable<object>): AsyncGenerator<string> {
  yield `,\n${JSON.stringify(name)}:[`;
  let separator = "\n";
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ",\n";
  }
  yield "]";
}

async function* devicesOf({ devices }: ExportParts, userId: UserId): AsyncGenerator<object> {
  const scope = { kind: "user", userId } as const;
  for (let place: DevicePage["next"] = { afterId: 0, typeName: undefined }; place; ) {
    const page: DevicePage = await devices.page(scope, place);
    for (const { id } of page.devices) {
      const state = await stateOf(() => devices.state(scope, id as DeviceId));
      if (state) yield shownDevice(state);
    }
    place = page.next;
  }
}

/** Undefined when the device was removed meanwhile. */
async function stateOf(read: () => Promise<DeviceState>): Promise<DeviceState | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnknownDevice) return undefined;
    throw error;
  }
}

function shownDevice(state: DeviceState): object {
  const { id, name, room, typeName } = state.device;
  const attributes = attributesWithValues(state).map(({ key, value, updateTimeMs }) => {
    return [wireName(key), { value: wireValue(key, value), updateTime: updateTimeMs }] as const;
  });
  return { deviceId: id, deviceName: name, room, deviceTypeName: typeName, attributes: Object.fromEntries(attributes) };
}

async function* thingsOf({ things }: ExportParts, userId: UserId): AsyncGenerator<object> {
  for (let place: ThingPage["next"] = { afterDevice: 0, afterThing: "" }; place; ) {
    const page: ThingPage = await things.page({ kind: "user", userId }, place);
    for (const thing of page.things) yield shownThing(thing);
    place = page.next;
  }
}

function shownThing({ thingId, deviceId, source, kind, name, room, homeName, maker, model, state }: ReadThing): object {
  return { thingId, deviceId, source, kind, name, room, homeName, maker, model, state };
}

async function* alertsOf({ alerts }: ExportParts, userId: UserId): AsyncGenerator<object> {
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const request = { afterId, deviceId: undefined, thingId: undefined };
    const page: Awaited<ReturnType<ThingAlerts["pageOfBoth"]>> = await alerts.onThings.pageOfBoth(
      { kind: "user", userId },
      request,
    );
    yield* page.alerts.map(shownAlert);
    afterId = page.nextAfterId;
  }
}

function shownAlert(alert: AnyTriggerRow): object {
  const { id, deviceId, condition, action, targets, commands, address, message, isEnabled, createdMs, firedMs } = alert;
  const watched =
    "thingId" in alert ? { thingId: alert.thingId, field: alert.field } : { attributeName: alert.attributeName };
  return {
    alertId: id,
    deviceId,
    ...watched,
    condition,
    action,
    targets,
    commands,
    address,
    message,
    enabled: isEnabled,
    createdTime: time(createdMs),
    firedTime: firedMs === null ? null : time(firedMs),
    firings: alert.firings,
  };
}

/** Without its tokens: these are the service's, and no export holds them. */
function shownLink({ ecosystem, deviceId, state, reason, confirmedMs, names }: AccountHome): object {
  return { ecosystem, deviceId, homes: names, state, reason, confirmedTime: time(confirmedMs) };
}

function shownApp({ clientId, name, covers, scopes, sinceMs, usedMs }: AccountApp): object {
  return {
    clientId,
    name,
    covers,
    scopes: scopes ?? "all",
    sinceTime: time(sinceMs),
    lastUsedTime: usedMs === null ? null : time(usedMs),
  };
}

function time(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
