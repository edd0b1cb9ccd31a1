import { refuseUnknown } from "../../devices/attribute-parameter.ts";
import type { DeviceReading } from "../../devices/read.ts";
import { boundedFilter } from "../../events/event-filter.ts";
import { noDevice, noLinkedDevice } from "../../events/webhooks/resync.ts";
import type { AddedWebhook, DeliveryRow, WebhookOwner, WebhookRow, Webhooks } from "../../events/webhooks/webhooks.ts";
import { done, jsonAnswer } from "../../http/answer/answer.ts";
import type { Body, Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";
import { requireScopes } from "../../model/scope-errors.ts";
import { hasScope } from "../../model/scopes.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { readDeviceId, refuseBody } from "./v3-parameters.ts";
import { addWebhook, listDeliveries, listWebhooks, removeWebhook, resendDelivery } from "./webhook-descriptions.ts";

export interface WebhookRouteParts extends KeyedRouteParts {
  readonly devices: Pick<DeviceReading, "device">;
  readonly webhooks: Webhooks;
}

const path = "/v3/webhooks";

/** Webhooks. A webhook belongs to the client that created it and to its user or tenant; others don't see it. */
export function webhookRoutes({ devices, webhooks, idempotency, tokens }: WebhookRouteParts): readonly Route[] {
  const ownerOf = async ({ bearer = "" }: Incoming, caller: Principal) => ({
    ...caller,
    clientId: await tokens.clientOf(bearer),
  });
  const keys = { idempotency, tokens };
  return [
    keyed(keys, {
      methods: ["POST"],
      path,
      isSecret: true,
      scopes: ["webhooks", "devices:read"],
      description: addWebhook,
      async answer(incoming, caller, keep) {
        const created = ({ webhook, secret }: AddedWebhook) => jsonAnswer(201, { ...webhookBody(webhook), secret });
        const webhook = { ...readNewWebhook(incoming.body), hearsAlerts: hasScope(caller, "alerts") };
        if (webhook.hearsLinkSessions) requireScopes(caller, ["links"]);
        const named: { readonly isVirtual: boolean }[] = [];
        for (const deviceId of webhook.deviceIds) named.push(await devices.device(caller, deviceId));
        refuseUnknown(webhook.attributes, named);
        const owner = await ownerOf(incoming, caller);
        return created(await webhooks.add(owner, webhook, incoming.disconnected, keep(created)));
      },
    }),
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      scopes: ["webhooks"],
      description: listWebhooks,
      async answer(incoming, caller) {
        const owner: WebhookOwner = await ownerOf(incoming, caller);
        return jsonAnswer(200, { webhooks: (await webhooks.list(owner)).map(webhookBody) });
      },
    },
    keyed(keys, {
      methods: ["DELETE"],
      path: `${path}/:webhookId`,
      scopes: ["webhooks"],
      description: removeWebhook,
      async answer(incoming, caller, keep) {
        refuseBody(incoming);
        await webhooks.remove(await ownerOf(incoming, caller), idOf(incoming), keep(done));
        return done();
      },
    }),
    {
      methods: ["GET"],
      path: `${path}/:webhookId/deliveries`,
      access: "bearer",
      errors: "standard",
      scopes: ["webhooks"],
      description: listDeliveries,
      async answer(incoming, caller) {
        const deliveries = await webhooks.deliveries(await ownerOf(incoming, caller), idOf(incoming));
        return jsonAnswer(200, { deliveries: deliveries.map(deliveryBody) });
      },
    },
    keyed(keys, {
      methods: ["POST"],
      path: `${path}/:webhookId/deliveries/:deliveryId/resend`,
      scopes: ["webhooks"],
      description: resendDelivery,
      async answer(incoming, caller, keep) {
        refuseBody(incoming);
        const accepted = (delivery: DeliveryRow) => jsonAnswer(202, deliveryBody(delivery));
        const deliveryId = incoming.pathParameters.deliveryId ?? "";
        if (!/^[1-9][0-9]{0,14}$/.test(deliveryId)) throw new NotFound("There is no such webhook or delivery.");
        const owner = await ownerOf(incoming, caller);
        return accepted(await webhooks.resend(owner, idOf(incoming), Number(deliveryId), keep(accepted)));
      },
    }),
  ];
}

function idOf({ pathParameters }: Incoming): string {
  return pathParameters.webhookId ?? "";
}

function readNewWebhook(body: Body) {
  const value = body.kind === "json" ? body.value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter("body", "The body must be a JSON object with the member url.");
  }
  const {
    url,
    deviceIds = [],
    attributes = [],
    things = false,
    linkSessions = false,
  } = value as Record<string, unknown>;
  if (typeof url !== "string" || !url.isWellFormed()) throw new BadParameter("url", "The member url must be a text.");
  if (!Array.isArray(deviceIds) || !deviceIds.every((id) => Number.isInteger(id) || typeof id === "string")) {
    throw new BadParameter("deviceIds", "The member deviceIds must be a list of device ids.");
  }
  const isName = (name: unknown) =>
    typeof name === "string" && name !== "" && name.isWellFormed() && !name.includes("\0");
  if (!Array.isArray(attributes) || !attributes.every(isName)) {
    throw new BadParameter("attributes", "The member attributes must be a list of attribute names.");
  }
  if (typeof things !== "boolean") throw new BadParameter("things", "The member things must be true or false.");
  if (typeof linkSessions !== "boolean") {
    throw new BadParameter("linkSessions", "The member linkSessions must be true or false.");
  }
  const ids = new Set(deviceIds.map(String));
  return {
    url,
    hearsThings: things,
    hearsLinkSessions: linkSessions,
    ...boundedFilter({ deviceIds: [...ids].map(readDeviceId), attributes: attributes as string[] }),
  };
}

function webhookBody(webhook: WebhookRow) {
  const { id, url, deviceIds, attributes, hearsThings, hearsLinkSessions, createdMs, pausedMs, isReadable } = webhook;
  const heard = { ...(hearsThings && { things: true }), ...(hearsLinkSessions && { linkSessions: true }) };
  const problem = !isReadable && { problem: unreadableFilter };
  const paused = pausedMs !== null && { paused: true };
  return { webhookId: id, url, deviceIds, attributes, ...heard, createdTime: createdMs, ...paused, ...problem };
}

const unreadableFilter =
  "The stored filter can't be read, so the webhook gets no messages. Remove it, add it again, and read your devices again.";

function deliveryBody({ id, messageId, type, deviceId, state, attempts, ...rest }: DeliveryRow) {
  return {
    deliveryId: id,
    messageId,
    type,
    deviceId: deviceId === noDevice || deviceId === noLinkedDevice ? null : deviceId,
    state,
    attempts,
    status: rest.status,
    text: rest.text,
    createdTime: rest.createdMs,
    // An urgent message has the due time 0, so that it goes first.
    nextTime: rest.nextMs === null ? null : Math.max(rest.nextMs, rest.createdMs),
    settledTime: rest.settledMs,
  };
}
