import type { Alerts, AnyTriggerRow, Explanation, ThingAlerts, ThingOrder } from "../../alerts/alerts.ts";
import { done, jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { ScopedPrincipal } from "../../identity/principal.ts";
import { BadParameter, UnknownTrigger } from "../../model/errors.ts";
import { parseId, type TriggerId } from "../../model/ids.ts";
import { requireScopes } from "../../model/scope-errors.ts";
import { type AlertInput, readAlert, readDryRun } from "./alert-body.ts";
import {
  changeAlert,
  createAlert,
  dryRunAlert,
  explainAlert,
  getAlert,
  listAlerts,
  removeAlert,
} from "./alert-descriptions.ts";
import { requireConsent } from "./command-body.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { asksForThings, readDeviceId, refuseBody, singleValue } from "./v3-parameters.ts";

export interface AlertRouteParts extends KeyedRouteParts {
  readonly alerts: Alerts & { readonly onThings: ThingAlerts };
}

const path = "/v3/alerts/:alertId";

/**
 * Alerts in JSON. The platform calls work on the same alerts, without those on things. Each call is limited to the
 * caller's access scope.
 */
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
        const request = pageRequestOf(incoming);
        const page = request.withThings
          ? await alerts.onThings.pageOfBoth(caller, request)
          : await alerts.page(caller, request);
        return jsonAnswer(200, {
          alerts: page.alerts.map(alertBody),
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
        const created = (alert: AnyTriggerRow) => jsonAnswer(201, alertBody(alert));
        const input = readAlert(body);
        requireWriting(caller, input);
        if ("thingId" in input) return created(await alerts.onThings.add(caller, input, keep(created)));
        return created(await alerts.add(caller, input, keep(created)));
      },
    }),
    {
      methods: ["POST"],
      path: "/v3/alerts/dry-run",
      access: "bearer",
      errors: "standard",
      scopes: ["alerts", "devices:read"],
      description: dryRunAlert,
      async answer(incoming, caller) {
        const { input, period } = readDryRun(incoming.body);
        const { events, firings, commands } = await ("thingId" in input
          ? alerts.onThings.dryRun(caller, input, period, incoming)
          : alerts.dryRun(caller, input, period, incoming));
        return jsonAnswer(200, {
          events,
          firings: firings.map(({ timeMs, value }) => ({ time: timeMs, value })),
          ...(commands.length > 0 && { commands: commands.map(orderBody) }),
        });
      },
    },
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      scopes: ["alerts"],
      description: getAlert,
      async answer(incoming, caller) {
        const id = alertIdOf(incoming);
        return jsonAnswer(200, alertBody(await either<AnyTriggerRow>(alerts, (kind) => kind.find(caller, id))));
      },
    },
    keyed(keys, {
      methods: ["PUT"],
      path,
      scopes: ["alerts"],
      description: changeAlert,
      async answer(incoming, caller, keep) {
        const changed = (alert: AnyTriggerRow) => jsonAnswer(200, alertBody(alert));
        const id = alertIdOf(incoming);
        // The error for an alert outside the caller's access comes before errors about the body.
        const before = await either<AnyTriggerRow>(alerts, (kind) => kind.find(caller, id));
        const input = readAlert(incoming.body);
        requireWriting(caller, input);
        if ("thingId" in before !== "thingId" in input) {
          throw new BadParameter("thingId", "An alert stays with its device or its thing. Make another one instead.");
        }
        if ("thingId" in input) return changed(await alerts.onThings.redefine(caller, id, input, keep(changed)));
        return changed(await alerts.redefine(caller, id, input, keep(changed)));
      },
    }),
    keyed(keys, {
      methods: ["DELETE"],
      path,
      scopes: ["alerts"],
      description: removeAlert,
      async answer(incoming, caller, keep) {
        refuseBody(incoming);
        const id = alertIdOf(incoming);
        await either(alerts, (kind) => kind.remove(caller, id, keep(done)));
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
        const id = alertIdOf(incoming);
        const explained = await either<Explanation<AnyTriggerRow>>(alerts, (kind) =>
          kind.explain(caller, id, incoming),
        );
        const { trigger, value, isTrue, sentence, evaluations } = explained;
        return jsonAnswer(200, {
          alert: alertBody(trigger),
          value,
          conditionIsTrue: isTrue,
          explanation: sentence,
          evaluations: evaluations.map(({ timeMs, ...more }) => ({ time: timeMs, ...more })),
        });
      },
    },
  ];
}

/** Both kinds of alerts take their ids from one counter: an alert that is not on an attribute may be on a thing. */
async function either<Result>(
  alerts: AlertRouteParts["alerts"],
  act: (kind: Pick<Alerts | ThingAlerts, "find" | "remove" | "explain">) => Promise<Result>,
): Promise<Result> {
  try {
    return await act(alerts);
  } catch (error) {
    if (error instanceof UnknownTrigger) return act(alerts.onThings);
    throw error;
  }
}

/** An alert with targets or commands controls devices on the client's behalf, so it needs what that needs. */
function requireWriting(caller: ScopedPrincipal, { targets, commands = [] }: AlertInput): void {
  if (targets.length + commands.length > 0) requireScopes(caller, ["alerts", "devices:control"]);
  for (const command of commands) requireConsent(caller, command);
}

/** The requested page. A cursor continues the same list, so all other parameters must be sent again with it. */
function pageRequestOf(incoming: Incoming) {
  const sentDeviceId = singleValue(incoming, "deviceId");
  const thingId = singleValue(incoming, "thingId");
  const withThings = asksForThings(incoming);
  if (thingId !== undefined && !withThings) {
    throw new BadParameter(
      "thingId",
      "The parameter thingId needs things=true: the list has no alerts on things otherwise.",
    );
  }
  const filter = {
    deviceId: sentDeviceId === undefined ? undefined : readDeviceId(sentDeviceId),
    thingId,
    withThings,
  };
  const cursor = singleValue(incoming, "cursor");
  if (cursor === undefined) return { afterId: 0, ...filter };
  const afterId = /^[0-9a-z]{1,6}$/.test(cursor) ? parseId<TriggerId>(String(Number.parseInt(cursor, 36))) : undefined;
  if (afterId === undefined) {
    throw new BadParameter("cursor", "The parameter cursor must be one that this list answered.");
  }
  return { afterId, ...filter };
}

/** A malformed id is treated like an unknown one. */
function alertIdOf({ pathParameters }: Incoming): TriggerId {
  const id = parseId<TriggerId>(pathParameters.alertId ?? "");
  if (id === undefined) throw new UnknownTrigger();
  return id;
}

/** A command that a firing would send to one thing. */
function orderBody({ thingId, command: { trait, command, params } }: ThingOrder): object {
  return { thingId, trait, command, params };
}

function alertBody(trigger: AnyTriggerRow) {
  const { condition } = trigger;
  return {
    alertId: trigger.id,
    deviceId: trigger.deviceId,
    ...("thingId" in trigger
      ? { thingId: trigger.thingId, field: trigger.field }
      : { attrName: trigger.attributeName }),
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
    ...(trigger.commands.length > 0 && { commands: trigger.commands }),
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
