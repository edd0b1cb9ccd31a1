import type { DeviceState } from "../../devices/states.ts";
import { type Answer, jsonTextAnswer, noContent } from "../../http/answer/answer.ts";
import type { Route } from "../../http/routes.ts";
import type { ResumableBatches } from "../../idempotency/resumable-batches.ts";
import type { Principal } from "../../identity/principal.ts";
import type { Provisioning } from "../../provisioning/provisioning.ts";
import { RefusedLine } from "../../provisioning/provisioning.ts";
import { batchRoute } from "./batch-routes.ts";
import { BatchTurns } from "./batch-turns.ts";
import { newDeviceBody } from "./device-body.ts";
import { devicePath } from "./device-routes.ts";
import { requireEnterprise } from "./enterprise-caller.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { objectOf, readDeviceChange, readNewDevice } from "./provisioning-body.ts";
import { addDevice, describeDevice, removeDevice } from "./provisioning-descriptions.ts";
import { stateRoute } from "./state-routes.ts";
import { deviceIdOf, refuseBody } from "./v3-parameters.ts";

export interface ProvisioningRouteParts extends KeyedRouteParts {
  readonly provisioning: Provisioning;
  readonly batches: Pick<ResumableBatches, "run">;
}

const bodyBytes = 65_536;

/** A company's own devices (docs/interface.md, Provisioning). Only enterprise clients may call. */
export function provisioningRoutes({ provisioning, ...keys }: ProvisioningRouteParts): readonly Route[] {
  const turns = new BatchTurns();
  return [
    keyed(keys, {
      methods: ["POST"],
      path: "/v3/devices",
      bodyBytes,
      scopes: ["devices:control"],
      description: addDevice,
      async answer(incoming, caller, keep) {
        const { tenantId } = requireEnterprise(caller);
        const device = readNewDevice(objectOf(incoming.body, "The body"));
        const createdAnswer = ([state]: readonly DeviceState[]) => deviceAnswer(201, state!, caller);
        return createdAnswer(await provisioning.addAll(tenantId, [device], keep(createdAnswer)).catch(throwRefusal));
      },
    }),
    keyed(keys, {
      methods: ["PATCH"],
      path: devicePath,
      bodyBytes,
      scopes: ["devices:control"],
      description: describeDevice,
      async answer(incoming, caller, keep) {
        const { tenantId } = requireEnterprise(caller);
        const change = readDeviceChange(incoming.body);
        const changedAnswer = (state: DeviceState) => deviceAnswer(200, state, caller);
        return changedAnswer(await provisioning.update(tenantId, deviceIdOf(incoming), change, keep(changedAnswer)));
      },
    }),
    keyed(keys, {
      methods: ["DELETE"],
      path: devicePath,
      scopes: ["devices:control"],
      description: removeDevice,
      async answer(incoming, caller, keep) {
        const { tenantId } = requireEnterprise(caller);
        refuseBody(incoming);
        await provisioning.remove(tenantId, deviceIdOf(incoming), keep(noContent));
        return noContent();
      },
    }),
    batchRoute({ provisioning, ...keys }, turns),
    stateRoute({ provisioning, ...keys }, turns),
  ];
}

function deviceAnswer(status: number, state: DeviceState, caller: Principal): Answer {
  return jsonTextAnswer(status, newDeviceBody(state, caller));
}

/** `addAll` says which line was refused. Here there is one device, so only the reason is thrown. */
function throwRefusal(error: unknown): never {
  throw error instanceof RefusedLine ? error.refusal : error;
}
