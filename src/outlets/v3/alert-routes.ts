import type { AlertPlace, Alerts, GivenTrigger, TriggerRow } from "../../alerts/alerts.ts";
import { done, jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { ScopedPrincipal } from "../../identity/principal.ts";
import { BadParameter, UnknownTrigger } from "../../model/errors.ts";
import { parseId, type TriggerId } from "../../model/ids.ts";
import { requireScopes } from "../../model/scope-errors.ts";
import { readAlert, readDryRun } from "./alert-body.ts";
import {
  changeAlert,
  createAlert,
  dryRunAlert,
  explainAlert,
  getAlert,
  listAlerts,
  removeAlert,
} from "./alert-descriptions.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { onlyOne, readDeviceId, refuseBody } from "./v3-parameters.ts";

export interface AlertRouteParts extends KeyedRouteParts {
  readonly alerts: Alerts;
}

const path = "/v3/alerts/:alertId";

/** Alerts in JSON; the platform calls work on the same ones. Whose they are is decided by the caller of each call. */
export function alertRoutes({ alerts, idempotency, tokens }: AlertRouteParts): readonly Route[] {
  const keys = { idempotency, tokens };
  return [
    {
      methods: ["GET"],
      path: "/v3/alerts",
      access: "bearer",
      errors: "standard",
      scopes: ["alerts"],
      description: listAlerts,
      async answer(incoming, caller) {
        const page = await alerts.page(caller, placeOf(incoming));
        return jsonAnswer(200, {
          alerts: page.alerts.map(shown),
          ...(page.nextAfterId !== undefined && { cursor: page.nextAfterId.toString(36) }),
        });
      },
    },
    keyed(keys, {
      methods: ["POST"],
      path: "/v3/alerts",
      scopes: ["alerts"],
      description: createAlert,
      async answer({ body }, caller, keep) {
        const created = (alert: TriggerRow) => jsonAnswer(201, shown(alert));
        const given = readAlert(body);
        requireWriting(caller, given);
        return created(await alerts.add(caller, given, keep(created)));
      },
    }),
    {
      methods: ["POST"],
      path: "/v3/alerts/dry-run",
      access: "bearer",
      errors: "standard",
      scopes: ["alerts", "devices:read"],
      description: dryRunAlert,
      async answer({ body }, caller) {
        const { given, stretch } = readDryRun(body);
        const { events, firings } = await alerts.dryRun(caller, given, stretch);
        return jsonAnswer(200, { events, firings: firings.map(({ timeMs, value }) => ({ time: timeMs, value })) });
      },
    },
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      scopes: ["alerts"],
      description: getAlert,
      answer: async (incoming, caller) => jsonAnswer(200, shown(await alerts.find(caller, alertIdOf(incoming)))),
    },
    keyed(keys, {
      methods: ["PUT"],
      path,
      scopes: ["alerts"],
      description: changeAlert,
      async answer(incoming, caller, keep) {
        const changed = (alert: TriggerRow) => jsonAnswer(200, shown(alert));
        // A foreign alert is unknown before anything is said about the body.
        await alerts.find(caller, alertIdOf(incoming));
        const given = readAlert(incoming.body);
        requireWriting(caller, given);
        return changed(await alerts.redefine(caller, alertIdOf(incoming), given, keep(changed)));
      },
    }),
    keyed(keys, {
      methods: ["DELETE"],
      path,
      scopes: ["alerts"],
      description: removeAlert,
      async answer(incoming, caller, keep) {
        refuseBody(incoming);
        await alerts.remove(caller, alertIdOf(incoming), keep(done));
        return done();
      },
    }),
    {
      methods: ["GET"],
      path: `${path}/explain`,
      access: "bearer",
      errors: "standard",
      scopes: ["alerts", "devices:read"],
      description: explainAlert,
      async answer(incoming, caller) {
        const { trigger, value, isTrue, sentence, evaluations } = await alerts.explain(caller, alertIdOf(incoming));
        return jsonAnswer(200, {
          alert: shown(trigger),
          value,
          conditionIsTrue: isTrue,
          explanation: sentence,
          evaluations: evaluations.map(({ timeMs, ...more }) => ({ time: timeMs, ...more })),
        });
      },
    },
  ];
}

/** An alert that writes devices controls them in the client's place. */
function requireWriting(caller: ScopedPrincipal, { targets }: GivenTrigger): void {
  if (targets.length > 0) requireScopes(caller, ["alerts", "devices:control"]);
}

/** A cursor goes on in the same list, which is named again beside it. */
function placeOf(incoming: Incoming): AlertPlace {
  const given = onlyOne(incoming, "deviceId");
  const deviceId = given === undefined ? undefined : readDeviceId(given);
  const cursor = onlyOne(incoming, "cursor");
  if (cursor === undefined) return { afterId: 0, deviceId };
  const afterId = /^[0-9a-z]{1,6}$/.test(cursor) ? parseId<TriggerId>(String(Number.parseInt(cursor, 36))) : undefined;
  if (afterId === undefined) {
    throw new BadParameter("cursor", "The parameter cursor must be one that this list answered.");
  }
  return { afterId, deviceId };
}

/** A malformed id is as unknown as a foreign one. */
function alertIdOf({ pathParameters }: Incoming): TriggerId {
  const id = parseId<TriggerId>(pathParameters.alertId ?? "");
  if (id === undefined) throw new UnknownTrigger();
  return id;
}

function shown(trigger: TriggerRow) {
  const { condition } = trigger;
  return {
    alertId: trigger.id,
    deviceId: trigger.deviceId,
    attrName: trigger.attributeName,
    operation: condition.operation,
    ...("threshold" in condition
      ? { threshold: condition.threshold }
      : { stringThreshold: condition.operation === "regex" ? condition.pattern : condition.text }),
    action: trigger.action,
    targets: trigger.targets.map(({ deviceId, attributeName, value }) => ({
      deviceId,
      attrName: attributeName,
      value: value === "" ? null : value,
    })),
    address: trigger.address,
    msg: trigger.message,
    autoDisarm: trigger.autoDisarm,
    autoDelete: trigger.autoDelete,
    autoDisable: trigger.autoDisable,
    enable: trigger.isEnabled,
    disarmed: !trigger.isArmed,
    disabledReason: trigger.reason,
    createdTime: trigger.createdMs,
    firedTime: trigger.firedMs,
    firings: trigger.firings,
  };
}
