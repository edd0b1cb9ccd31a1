import type { Alerts } from "../../alerts/alerts.ts";
import type { DeviceReading } from "../../devices/read.ts";
import type { DeviceWriting } from "../../devices/write.ts";
import type { Federation } from "../../federation/federation.ts";
import type { Identity } from "../../identity/identity.ts";
import type { UserPrincipal } from "../../identity/principal.ts";
import {
  getDeviceAttribute,
  getDeviceAttributesWithValues,
  getDeviceList,
  setDeviceAttribute,
  setMultiDeviceAttributes2,
} from "./device-operations.ts";
import type { CallOrigin, Parameters } from "./parameters.ts";
import { getUserValueList, userLogin, userLogout } from "./session-operations.ts";
import {
  addTrigger,
  getTrigger,
  getTriggerDetailListByDevice,
  getTriggerDetailListByUser,
  removeTrigger,
  updateTriggerEnableState,
  updateTriggersEnableStateByDevice,
} from "./trigger-operations.ts";
import type { Element } from "./xml.ts";

/** The parts that operations use. */
export interface PlatformParts {
  readonly identity: Pick<Identity, "login" | "logout" | "authenticate">;
  readonly devices: Pick<DeviceReading, "page" | "state"> & DeviceWriting;
  readonly alerts: Pick<Alerts, "add" | "find" | "page" | "setEnabled" | "setEnabledOfDevice" | "remove">;
  readonly federation: Pick<Federation, "freshness">;
  /** Counts a call for the quota of the tenant; throws QuotaExceeded. */
  readonly admit?: (caller: UserPrincipal, mayRefuse: boolean) => void;
}

/** The answer of an operation: all elements, or a long list page by page. */
export type Answered = Promise<readonly Element[]> | AsyncGenerator<readonly Element[], void>;

/** One operation and its access rule. The caller of a `secToken` operation is authenticated before it runs. */
export type Operation =
  | {
      readonly access: "public";
      run(parts: PlatformParts, parameters: Parameters, from: CallOrigin): Answered;
    }
  | {
      readonly access: "secToken";
      /** It is never refused because of a quota: a write may report an alarm. */
      readonly mayCarryAlarms?: true;
      run(parts: PlatformParts, parameters: Parameters, caller: UserPrincipal, from: CallOrigin): Answered;
    };

/** Every operation. A Map, so that a name from outside can't find a property of an object. */
export const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["userLogin", { access: "public", run: userLogin }],
  ["userLogout", { access: "secToken", run: userLogout }],
  ["getUserValueList", { access: "secToken", run: getUserValueList }],
  ["getDeviceList", { access: "secToken", run: getDeviceList }],
  ["getDeviceAttributesWithValues", { access: "secToken", run: getDeviceAttributesWithValues }],
  ["getDeviceAttribute", { access: "secToken", run: getDeviceAttribute }],
  ["setDeviceAttribute", { access: "secToken", mayCarryAlarms: true, run: setDeviceAttribute }],
  ["setMultiDeviceAttributes2", { access: "secToken", mayCarryAlarms: true, run: setMultiDeviceAttributes2 }],
  ["addTrigger", { access: "secToken", run: addTrigger }],
  ["getTrigger", { access: "secToken", run: getTrigger }],
  ["getTriggerDetailListByDevice", { access: "secToken", run: getTriggerDetailListByDevice }],
  ["getTriggerDetailListByUser", { access: "secToken", run: getTriggerDetailListByUser }],
  ["updateTriggerEnableState", { access: "secToken", run: updateTriggerEnableState }],
  ["updateTriggersEnableStateByDevice", { access: "secToken", run: updateTriggersEnableStateByDevice }],
  ["removeTrigger", { access: "secToken", run: removeTrigger }],
]);
