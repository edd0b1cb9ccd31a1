import type { AnyTriggerRow, DryRun, Explanation, RunningAlerts, TriedValue } from "../alerts/alerts.ts";
import type { HomeAlerts } from "../cli/administration/homes/home-alerts.ts";
import type { DeviceReading } from "../devices/read.ts";
import { BadParameter, UnknownDevice, UnknownTrigger } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import type { ThingReading } from "../own-things/thing-reading.ts";

interface Sources {
  readonly alerts: RunningAlerts;
  readonly devices: DeviceReading;
  readonly things: ThingReading;
}

/** Questions of operators do not count for the user. */
const byOperator = { isOperator: true } as const;

/** What operators see of alerts, and do with them. */
export function homeAlerts({ alerts, devices, things }: Sources): HomeAlerts {
  const ofUser = (userId: UserId) => ({ kind: "user", userId }) as const;
  /** Both kinds of alerts take their ids from one counter: an alert that is not on an attribute may be on a thing. */
  const either = async <Result>(
    act: (
      kind: Pick<RunningAlerts | RunningAlerts["onThings"], "find" | "explain" | "tryValue" | "setEnabled" | "remove">,
    ) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await act(alerts);
    } catch (error) {
      if (error instanceof UnknownTrigger) return act(alerts.onThings);
      throw error;
    }
  };
  return {
    list: (filter) => alerts.onThings.listed(filter),
    async names(userId, deviceIds, thingIds) {
      const scope = ofUser(userId);
      const [owned, found] = await Promise.all([
        Promise.all(
          [...new Set(deviceIds)].map((deviceId) =>
            devices.device(scope, deviceId).catch((error) => {
              if (error instanceof UnknownDevice) return undefined;
              throw error;
            }),
          ),
        ),
        thingIds.length === 0 ? [] : things.some(userId, [...new Set(thingIds)]),
      ]);
      return {
        devices: new Map(owned.flatMap((device) => (device ? [[device.id, device.name] as const] : []))),
        things: new Map(found.map(({ thingId, name, kind, room }) => [thingId, nameOf(name, kind, room)])),
      };
    },
    explain: (userId, alertId) =>
      either<Explanation<AnyTriggerRow>>((kind) => kind.explain(ofUser(userId), alertId, byOperator)),
    tryValue: (userId, alertId, value) =>
      either<TriedValue<AnyTriggerRow>>((kind) => kind.tryValue(ofUser(userId), alertId, value, byOperator)),
    dryRun: (userId, input, period): Promise<DryRun> =>
      "thingId" in input
        ? alerts.onThings.dryRun(ofUser(userId), input, period, byOperator)
        : alerts.dryRun(ofUser(userId), input, period, byOperator),
    add: (userId, input): Promise<AnyTriggerRow> =>
      "thingId" in input ? alerts.onThings.add(ofUser(userId), input) : alerts.add(ofUser(userId), input),
    async edit(userId, alertId, input): Promise<AnyTriggerRow> {
      const scope = ofUser(userId);
      const kept = ({ isEnabled, address }: AnyTriggerRow) => ({ isEnabled, address });
      const before = await either<AnyTriggerRow>((kind) => kind.find(scope, alertId));
      if ("thingId" in before !== "thingId" in input) {
        throw new BadParameter("thing", "An alert stays with its device or its thing. Make another one instead.");
      }
      return "thingId" in input
        ? alerts.onThings.redefine(scope, alertId, (present) => ({ ...input, ...kept(present) }))
        : alerts.redefine(scope, alertId, (present) => ({ ...input, ...kept(present) }));
    },
    setEnabled: (userId, alertId, isEnabled) =>
      either<void>((kind) => kind.setEnabled(ofUser(userId), alertId, isEnabled)),
    remove: (userId, alertId) => either<void>((kind) => kind.remove(ofUser(userId), alertId)),
  };
}

/** `Lamp (Hall)`: a thing without a name is called by its kind, and a room that its name begins with is left out. */
function nameOf(name: string | null, kind: string, room: string | null): string {
  const called = name ?? `a ${kind}`;
  return room === null || called.startsWith(room) ? called : `${called} (${room})`;
}
