import type { AlertPage, Alerts, TriggerRow } from "../../alerts/alerts.ts";
import type { UserPrincipal } from "../../identity/principal.ts";
import type { DeviceId } from "../../model/ids.ts";
import { readTargets } from "../../model/trigger-targets.ts";
import type { Parameters } from "./parameters.ts";
import type { Element } from "./xml.ts";

/** The answer of operations without a result. */
const done: readonly Element[] = [["retCode", 0]];

/** Interface 4.4. `address` and `msg` may be empty; omitted switches are off, except `enable`. */
export async function addTrigger(
  { alerts }: { readonly alerts: Pick<Alerts, "add"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const { id } = await alerts.add(caller, {
    deviceId: parameters.deviceId(),
    action: parameters.required("action"),
    attributeName: parameters.required("attrName"),
    operation: parameters.required("operation"),
    threshold: parameters.optional("threshold") ?? "",
    stringThreshold: parameters.optional("stringThreshold") ?? "",
    address: parameters.optional("address") ?? "",
    message: parameters.optional("msg") ?? "",
    autoDisarm: parameters.boolean("autoDisarm", false),
    autoDelete: parameters.boolean("autoDelete", false),
    autoDisable: parameters.boolean("autoDisable", false),
    isEnabled: parameters.boolean("enable", true),
    targets: readTargets(parameters.optional("targetDeviceAttributes") ?? ""),
  });
  return [["triggerId", id]];
}

export async function getTrigger(
  { alerts }: { readonly alerts: Pick<Alerts, "find"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  return [detail(await alerts.find(caller, parameters.triggerId()))];
}

/** Repeated `trigList` siblings without a wrapper. */
export function getTriggerDetailListByDevice(
  { alerts }: { readonly alerts: Pick<Alerts, "page"> },
  parameters: Parameters,
  caller: UserPrincipal,
): AsyncGenerator<readonly Element[], void> {
  return details(alerts, caller, parameters.deviceId());
}

export function getTriggerDetailListByUser(
  { alerts }: { readonly alerts: Pick<Alerts, "page"> },
  parameters: Parameters,
  caller: UserPrincipal,
): AsyncGenerator<readonly Element[], void> {
  parameters.checkUserId(caller.userId);
  return details(alerts, caller, undefined);
}

/** The alerts of a device, or of the caller, page by page. */
async function* details(
  alerts: Pick<Alerts, "page">,
  caller: UserPrincipal,
  deviceId: DeviceId | undefined,
): AsyncGenerator<readonly Element[], void> {
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const page: AlertPage = await alerts.page(caller, { afterId, deviceId });
    yield page.alerts.map(detail);
    afterId = page.nextAfterId;
  }
}

export async function updateTriggerEnableState(
  { alerts }: { readonly alerts: Pick<Alerts, "setEnabled"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  await alerts.setEnabled(caller, parameters.triggerId(), parameters.boolean("enable"));
  return done;
}

export async function updateTriggersEnableStateByDevice(
  { alerts }: { readonly alerts: Pick<Alerts, "setEnabledOfDevice"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  await alerts.setEnabledOfDevice(caller, parameters.deviceId(), parameters.boolean("enable"));
  return done;
}

export async function removeTrigger(
  { alerts }: { readonly alerts: Pick<Alerts, "remove"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  await alerts.remove(caller, parameters.triggerId());
  return done;
}

function detail(trigger: TriggerRow): Element {
  const { condition } = trigger;
  const text =
    condition.operation === "regex" ? condition.pattern : condition.operation === "equals" ? condition.text : "";
  return [
    "trigList",
    [
      ["triggerId", trigger.id],
      ["devId", trigger.deviceId],
      ["action", trigger.action],
      ["attrName", trigger.attributeName],
      ["operation", condition.operation],
      ["threshold", "threshold" in condition ? condition.threshold : ""],
      ["stringThreshold", text],
      ["address", trigger.address],
      ["msg", trigger.message],
      ["autoDisarm", String(trigger.autoDisarm)],
      ["disarmed", String(!trigger.isArmed)],
      ["autoDelete", String(trigger.autoDelete)],
      ["autoDisable", String(trigger.autoDisable)],
      ["enable", String(trigger.isEnabled)],
      ...trigger.targets.map(
        ({ deviceId, attributeName, value }): Element => [
          "targetAttributesList",
          [
            ["deviceTriggerID", trigger.id],
            ["deviceID", deviceId],
            ["attributeName", attributeName],
            ["value", value],
          ],
        ],
      ),
    ],
  ];
}
