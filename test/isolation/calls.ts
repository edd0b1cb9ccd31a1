import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import type { Scope } from "../../src/model/scopes.ts";
import type { Address } from "./every-address.ts";

/** The objects of calls: those of the owner, or absent ones. */
export interface Things {
  readonly tenantId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly userName: string;
  /** An ordinary device. */
  readonly lampId: string;
  /** The virtual device of a linked account. */
  readonly linkedId: string;
  /** A smoke alarm: it accepts no command, so that a command to it ends at once. */
  readonly thingId: string;
  /** A command to this thing. */
  readonly commandId: string;
  /** An alert on the ordinary device. */
  readonly alertId: string;
  /** An alert on the thing. */
  readonly thingAlertId: string;
  /** A webhook of the owner's client, and a message that it was sent. */
  readonly webhookId: string;
  readonly deliveryId: string;
  /** A link session of the owner's client, and the page of one that names nobody. */
  readonly linkSessionId: string;
  readonly linkToken: string;
  readonly code: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** A token of the ecosystem that is not linked yet. */
  readonly ecosystemToken: string;
  /** A login page, open in a browser. */
  readonly login: {
    /** The sealed request in the address of the login page. */
    readonly request: string;
    readonly transaction: string;
    readonly csrf: string;
    readonly cookie: string;
  };
  /** The page with the terms, open in the browser in which the owner has signed in. */
  readonly terms: { readonly transaction: string; readonly csrf: string };
}

/** The kind of credential that an address needs. Public addresses need none, or one that no access rule describes. */
export type KeyKind = "bearer" | "secToken" | "client" | "password" | "browser" | "account";

/** A valid call of an address, without the key. */
export interface Call {
  /** The key of a public address that still needs one. */
  readonly key?: KeyKind;
  readonly path?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A body with one JSON object in each line. */
  readonly lines?: readonly unknown[];
  readonly cookie?: string;
  /** Status of success; 200 when left out. */
  readonly success?: number;
  /** The call needs an account that is not linked. */
  readonly needs?: "unlinked";
  /** The key is invalid afterwards. */
  readonly endsKey?: true;
  /** Enterprise clients may not call it like this, although they have access to the owner's devices. */
  readonly isOwnersAlone?: true;
  /** Only enterprise clients may call it; the owner gets 403. */
  readonly isCompanysAlone?: true;
  /** Scopes that it needs beside those of the address. */
  readonly scopes?: readonly Scope[];
  /** A secToken is accepted wherever an access token is. */
  readonly takesEitherToken?: true;
  /** Ids in the request that the answer names again, also to a caller for whom they do not exist. */
  readonly repeats?: readonly string[];
  /** Parameters that are stored and shown again. */
  readonly keeps?: readonly string[];
}

/** The ways to call an address; throws with a sentence if none is defined here. */
export function callsOf({ rule, method, path }: Address, things: Things): readonly Call[] {
  const known = Object.hasOwn(calls, `${rule} ${path}`) ? calls[`${rule} ${path}`] : undefined;
  const found = known?.(things, method) ?? [];
  if (found.length > 0) return found;
  throw new Error(
    `No call of ${method} ${path} is defined for the rule "${rule}". Add "${rule} ${path}" to the calls in ` +
      "test/isolation/calls.ts, with the ids of the owner's objects, so that other callers can be tested on it.",
  );
}

const fanRequest = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
const nest = { anEcosystemName: "nest" };
const open = () => [{}];
const forCompany = { isCompanysAlone: true } as const;

/** An alert that never fires: a firing would change the data of later tests. */
export function alertOn(deviceId: string) {
  const condition = { attrName: "glow-of-Ottoline", operation: "equals", stringThreshold: "none that is written" };
  return { deviceId: Number(deviceId), ...condition, action: "email", msg: "Ember-of-Ottoline" };
}

/** The same on a thing. */
export function alertOnThing(thingId: string) {
  const condition = { field: "smoke.word", operation: "equals", stringThreshold: "none that is told" };
  return { thingId, ...condition, action: "email", msg: "Ember-of-Ottoline" };
}

/** The alert on the device, which would command the thing. */
function commandingAlert(deviceId: string, thingId: string) {
  return { ...alertOn(deviceId), commands: [{ thingId, trait: "fanTimer", command: "stop" }] };
}

const commanding = { scopes: ["devices:control"] } as const;

const unauthorizedDirective = {
  directive: {
    header: { namespace: "Alexa.Discovery", name: "Discover", payloadVersion: "3", messageId: "1" },
    payload: { scope: { type: "BearerToken", token: "none" } },
  },
};

const calls: Readonly<Record<string, (things: Things, method: string) => readonly Call[]>> = {
  "public /livez": open,
  "public /readyz": open,
  // For the operator only: no key opens it for a request through a proxy (test/http/metrics.test.ts).
  "public /metrics": () => [{ success: 401 }],
  "public /openapi.json": open,
  "public /docs": open,
  "public /.well-known/oauth-authorization-server": open,

  "public /oauth2/authorize": ({ clientId }) => [
    { parameters: { response_type: "code", client_id: clientId, state: "s-1" }, success: 302 },
  ],
  "public /oauth2/logo/:tenantId": ({ tenantId }) => [{ path: { tenantId } }],
  "public /oauth2/login": ({ userName, login: { request, transaction, csrf, cookie } }, method) => [
    method === "GET"
      ? { parameters: { request } }
      : { key: "password", parameters: { transaction, csrf, username: userName }, cookie, success: 303 },
  ],
  "public /oauth2/terms": ({ terms: { transaction, csrf } }, method) => [
    method === "GET"
      ? { key: "browser", parameters: { transaction } }
      : { key: "browser", parameters: { transaction, csrf, decision: "accept" }, success: 302 },
  ],
  "client /oauth2/access_token": ({ code, refreshToken }) => [
    { parameters: { grant_type: "authorization_code", code } },
    { parameters: { grant_type: "refresh_token", refresh_token: refreshToken } },
    { parameters: { grant_type: "refresh_token", code: refreshToken } },
  ],
  "client /oauth2/revoke_token": ({ accessToken, refreshToken }) => [
    { parameters: { token: refreshToken, token_type_hint: "" } },
    { parameters: { token: accessToken, token_type_hint: "refresh_token" } },
  ],

  // The secret in the address is the key. Without the cookie of its browser a form changes nothing.
  "public /link/sessions/:token": ({ linkToken }, method) => [
    { path: { token: linkToken }, ...(method === "POST" && { parameters: { decision: "cancel" }, success: 303 }) },
  ],
  "public /link/sessions/:token/sign-in": ({ linkToken }) => [
    { path: { token: linkToken }, parameters: { username: "nobody", password: "wrong" }, success: 303 },
  ],
  "public /link/callback": () => [{ parameters: { state: "unknown", code: "unknown" }, success: 400 }],

  "public /account": () => [{}],
  "public /account/:tenantId": ({ tenantId }, method) => [
    method === "GET"
      ? { key: "account", path: { tenantId } }
      : {
          key: "account",
          path: { tenantId },
          parameters: { unlink: "nest", decision: "confirm" },
          success: 303,
        },
  ],
  "public /account/:tenantId/sign-in": ({ tenantId }) => [
    { path: { tenantId }, parameters: { csrf: "none", username: "nobody", password: "wrong" }, success: 400 },
  ],
  "public /account/:tenantId/export": ({ tenantId }) => [{ key: "account", path: { tenantId } }],

  // Only a token of an outlet's own client is accepted, and the owner here has none (outlets.test.ts).
  "bearer /google-home/fulfilment": () => [
    { json: { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] }, success: 401 },
  ],

  // The token is in the directive. A wrong one is answered with an event that says so (outlets.test.ts).
  "public /alexa/v3/directives": () => [{ json: unauthorizedDirective }],

  "bearer /v3/users": open,
  "bearer /v3/users/:userId": ({ userId }) => [{ path: { userId } }],
  "bearer /v3/devices": ({ userId }, method) =>
    method === "GET"
      ? [{ parameters: { deviceTypeName: "Lamp" } }, { parameters: { deviceTypeName: "EcosystemAccount" } }]
      : [
          {
            json: { userId: Number(userId), deviceTypeName: "Lamp", deviceName: "Added" },
            success: 201,
            ...forCompany,
          },
        ],
  "bearer /v3/devices:batch": ({ userId }) => [
    {
      lines: [{ userId: Number(userId), deviceTypeName: "Lamp", deviceName: "Added" }],
      ...forCompany,
    },
  ],
  "bearer /v3/devices:states": ({ lampId }) => [
    { json: { [lampId]: { colour: "stated" } }, repeats: [lampId], ...forCompany },
  ],
  "bearer /v3/devices/:deviceId": ({ lampId, linkedId }, method) =>
    ({
      GET: [{ path: { deviceId: lampId } }, { path: { deviceId: linkedId }, parameters: { since: "0" } }],
      PUT: [
        { path: { deviceId: lampId }, json: { colour: "written by who may" } },
        { path: { deviceId: linkedId }, json: { [fanRequest]: null } },
      ],
      PATCH: [{ path: { deviceId: lampId }, json: { room: null }, ...forCompany }],
      // A linked account's device stays, so that later calls find it.
      DELETE: [{ path: { deviceId: linkedId }, success: 409, ...forCompany }],
    })[method] ?? [],
  "bearer /v3/devices/:deviceId/history": ({ lampId, linkedId }) => [
    { path: { deviceId: lampId } },
    { path: { deviceId: linkedId }, parameters: { from: "0", to: "9000000000000", attribute: "o.totalStructures" } },
  ],
  "bearer /v3/devices/:deviceId/commands": ({ linkedId }) => [{ path: { deviceId: linkedId } }],
  "bearer /v3/device-types": () => [{ ...forCompany }],
  "bearer /v3/device-types/:deviceTypeName": (_, method) => [
    {
      path: { deviceTypeName: "Lamp" },
      ...(method === "PUT" && { json: traitMapTemplates.lamp }),
      ...(method === "DELETE" && { success: 204 }),
      ...forCompany,
    },
  ],
  "bearer /v3/things": () => [{}, { parameters: { kind: "alarm", room: "", source: "nest" } }],
  "bearer /v3/things/:thingId": ({ thingId }) => [
    { path: { thingId } },
    { path: { thingId }, parameters: { since: "0" } },
  ],
  "bearer /v3/things/:thingId/history": ({ thingId }) => [
    { path: { thingId } },
    { path: { thingId }, parameters: { from: "0", to: "9000000000000", field: "presence.state" } },
  ],
  "bearer /v3/things/:thingId/commands": ({ thingId }, method) =>
    method === "GET"
      ? [{ path: { thingId } }]
      : [{ path: { thingId }, json: { trait: "fanTimer", command: "start", params: { minutes: 15 } }, success: 202 }],
  "bearer /v3/things/:thingId/commands/:commandId": ({ thingId, commandId }) => [{ path: { thingId, commandId } }],

  "bearer /v3/alerts": ({ lampId, thingId }, method) =>
    method === "GET"
      ? [
          { isOwnersAlone: true },
          { parameters: { deviceId: lampId } },
          { parameters: { things: "true" }, isOwnersAlone: true },
          { parameters: { things: "true", thingId } },
        ]
      : [
          { json: alertOn(lampId), success: 201 },
          { json: alertOnThing(thingId), success: 201 },
          { json: commandingAlert(lampId, thingId), success: 201, ...commanding },
        ],
  "bearer /v3/alerts/dry-run": ({ lampId, thingId }) => [
    { json: { ...alertOn(lampId), from: 0 } },
    { json: { ...alertOnThing(thingId), from: 0 } },
    { json: { ...commandingAlert(lampId, thingId), from: 0 } },
  ],
  "bearer /v3/alerts/:alertId": ({ alertId, lampId, thingAlertId, thingId }, method) => [
    { path: { alertId }, ...(method === "PUT" && { json: alertOn(lampId) }) },
    { path: { alertId: thingAlertId }, ...(method === "PUT" && { json: alertOnThing(thingId) }) },
    ...(method === "PUT" ? [{ path: { alertId }, json: commandingAlert(lampId, thingId), ...commanding }] : []),
  ],
  "bearer /v3/alerts/:alertId/explain": ({ alertId, thingAlertId }) => [
    { path: { alertId } },
    { path: { alertId: thingAlertId } },
  ],

  "bearer /v3/events": ({ lampId, thingId }) => [
    {},
    { parameters: { deviceId: lampId } },
    { parameters: { things: "true", thingId } },
  ],
  "bearer /v3/webhooks": ({ lampId }, method) =>
    method === "GET"
      ? [{ isOwnersAlone: true }]
      : [
          { json: { url: "http://127.0.0.1:9/", deviceIds: [Number(lampId)] }, success: 201 },
          { json: { url: "http://127.0.0.1:9/", things: true }, success: 201 },
        ],
  "bearer /v3/webhooks/:webhookId": ({ webhookId }) => [{ path: { webhookId }, isOwnersAlone: true }],
  "bearer /v3/webhooks/:webhookId/deliveries": ({ webhookId }) => [{ path: { webhookId }, isOwnersAlone: true }],
  "bearer /v3/webhooks/:webhookId/deliveries/:deliveryId/resend": ({ webhookId, deliveryId }) => [
    { path: { webhookId, deliveryId }, success: 202, isOwnersAlone: true },
  ],

  "bearer /v3/link-sessions": ({ userId }) => [
    { json: { ecosystem: "nest", userId: Number(userId), mode: "renew" }, success: 201 },
  ],
  "bearer /v3/link-sessions/:linkSessionId": ({ linkSessionId }) => [{ path: { linkSessionId }, isOwnersAlone: true }],

  "secToken /adaptor/federatedtokens": ({ ecosystemToken }, method) => {
    if (method === "GET" || method === "DELETE") return [{ parameters: nest }];
    const parameters = { ...nest, anAccessToken: ecosystemToken };
    return [method === "POST" ? { parameters, needs: "unlinked" } : { parameters }];
  },
  "secToken /adaptor/largestrings": ({ linkedId }) => [{ parameters: { id: linkedId }, takesEitherToken: true }],
  "bearer /adaptor/largestrings": ({ linkedId }) => [{ parameters: { id: linkedId }, takesEitherToken: true }],

  "public /acc/applications/:appId/sessions": ({ userName, tenantId }) => [
    { key: "password", path: { appId: tenantId }, parameters: { username: userName } },
  ],

  "public /zdk/services/zamapi/userLogin": ({ userName }) => [{ key: "password", parameters: { name: userName } }],
  "secToken /zdk/services/zamapi/userLogout": () => [{ endsKey: true }],
  "secToken /zdk/services/zamapi/getUserValueList": open,
  "secToken /zdk/services/zamapi/getDeviceList": ({ userId }) => [{}, { parameters: { userId } }],
  "secToken /zdk/services/zamapi/getDeviceAttributesWithValues": ({ lampId, linkedId }) => [
    { parameters: { devId: lampId } },
    { parameters: { devId: linkedId } },
  ],
  "secToken /zdk/services/zamapi/getDeviceAttribute": ({ lampId, linkedId }) => [
    { parameters: { devId: lampId, name: "glow-of-Ottoline" } },
    { parameters: { devId: linkedId, name: "o.totalStructures" } },
  ],
  "secToken /zdk/services/zamapi/setDeviceAttribute": ({ lampId, linkedId }) => [
    { parameters: { devId: lampId, name: "colour", value: "written by who may" } },
    { parameters: { devId: linkedId, name: fanRequest, value: "" }, keeps: ["value"] },
  ],
  "secToken /zdk/services/zamapi/setMultiDeviceAttributes2": ({ lampId, linkedId }) => [
    { parameters: { devId: lampId, name1: "colour", value1: "written by who may", name2: "level", value2: "7" } },
    { parameters: { devId: linkedId, name1: fanRequest, value1: "" }, keeps: ["value1"] },
  ],
  "secToken /zdk/services/zamapi/addTrigger": ({ lampId }) => {
    const { deviceId: _, ...alert } = alertOn(lampId);
    const keeps = ["attrName", "stringThreshold", "action", "msg"];
    return [{ parameters: { devId: lampId, ...alert }, keeps }];
  },
  "secToken /zdk/services/zamapi/getTrigger": ({ alertId }) => [{ parameters: { triggerId: alertId } }],
  "secToken /zdk/services/zamapi/getTriggerDetailListByDevice": ({ lampId }) => [{ parameters: { devId: lampId } }],
  "secToken /zdk/services/zamapi/getTriggerDetailListByUser": ({ userId }) => [{}, { parameters: { userId } }],
  "secToken /zdk/services/zamapi/updateTriggerEnableState": ({ alertId }) => [
    { parameters: { triggerId: alertId, enable: "true" } },
  ],
  "secToken /zdk/services/zamapi/updateTriggersEnableStateByDevice": ({ lampId }) => [
    { parameters: { devId: lampId, enable: "1" } },
  ],
  "secToken /zdk/services/zamapi/removeTrigger": ({ alertId }) => [{ parameters: { triggerId: alertId } }],
};
