import { jsonAnswer, noContent } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Audit } from "../../identity/audit.ts";
import type { EnterprisePrincipal } from "../../identity/principal.ts";
import { limits } from "../../model/limits.ts";
import type { DeviceType, DeviceTypes } from "../../provisioning/device-types.ts";
import { getDeviceType, listDeviceTypes, removeDeviceType, setDeviceType } from "./device-type-descriptions.ts";
import { requireEnterprise } from "./enterprise-caller.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { objectOf } from "./provisioning-body.ts";
import { refuseBody } from "./v3-parameters.ts";

export interface DeviceTypeRouteParts extends KeyedRouteParts {
  readonly deviceTypes: DeviceTypes;
  readonly audit: Pick<Audit, "record">;
}

const path = "/v3/device-types/:deviceTypeName";

/** Trait maps of a company's own device types (docs/interface.md, Own devices as things). */
export function deviceTypeRoutes({ deviceTypes, audit, ...keys }: DeviceTypeRouteParts): readonly Route[] {
  /**
   * Makes the function that records a change. All that can fail is read here, before the change: afterwards the client
   * must not be told that nothing was changed.
   */
  const recording = async (incoming: Incoming, { tenantId }: EnterprisePrincipal, change: "set" | "removed") => {
    const clientId = await keys.tokens.clientOf(incoming.bearer ?? "");
    const detail = { type: nameOf(incoming), change };
    return () => audit.record({ act: "device_type", tenantId, clientId, source: incoming.source, detail });
  };
  return [
    {
      methods: ["GET"],
      path: "/v3/device-types",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listDeviceTypes,
      async answer(_, caller) {
        const { tenantId } = requireEnterprise(caller);
        return jsonAnswer(200, { deviceTypes: (await deviceTypes.list(tenantId)).map(bodyOf) });
      },
    },
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getDeviceType,
      async answer(incoming, caller) {
        const { tenantId } = requireEnterprise(caller);
        return jsonAnswer(200, bodyOf(await deviceTypes.get(tenantId, nameOf(incoming))));
      },
    },
    keyed(keys, {
      methods: ["PUT"],
      path,
      scopes: ["devices:control"],
      bodyBytes: 2 * limits.traitMapBytes,
      description: setDeviceType,
      async answer(incoming, caller, keep) {
        const enterprise = requireEnterprise(caller);
        const map = objectOf(incoming.body, "The body");
        const answerOf = (type: DeviceType) => jsonAnswer(200, bodyOf(type));
        const record = await recording(incoming, enterprise, "set");
        const set = await deviceTypes.set(enterprise.tenantId, nameOf(incoming), map, keep(answerOf));
        await record();
        return answerOf(set);
      },
    }),
    keyed(keys, {
      methods: ["DELETE"],
      path,
      scopes: ["devices:control"],
      description: removeDeviceType,
      async answer(incoming, caller, keep) {
        const enterprise = requireEnterprise(caller);
        refuseBody(incoming);
        const record = await recording(incoming, enterprise, "removed");
        await deviceTypes.remove(enterprise.tenantId, nameOf(incoming), keep(noContent));
        await record();
        return noContent();
      },
    }),
  ];
}

function nameOf({ pathParameters }: Incoming): string {
  return pathParameters.deviceTypeName ?? "";
}

function bodyOf({ name, map, changedMs }: DeviceType): object {
  return { deviceTypeName: name, map, changedTime: changedMs };
}
