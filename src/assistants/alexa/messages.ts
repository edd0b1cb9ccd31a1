import { endpointBody } from "./discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { AlexaError } from "./errors.ts";
import type { TimedProperty } from "./properties.ts";

/** An event: an answer to a directive, or a message to Alexa's event gateway. */
export interface AlexaEvent {
  readonly context?: { readonly properties: readonly object[] };
  readonly event: {
    readonly header: Header;
    readonly endpoint?: { readonly endpointId: string; readonly scope?: Scope };
    readonly payload: Readonly<Record<string, unknown>>;
  };
}

interface Header {
  readonly namespace: string;
  readonly name: string;
  readonly payloadVersion: "3";
  readonly messageId: string;
  readonly correlationToken?: string;
}

interface Scope {
  readonly type: "BearerToken";
  readonly token: string;
}

/** What the event that answers a directive copies from it, and the id of the event. */
export interface ReplyHeader {
  readonly messageId: string;
  readonly correlationToken?: string | undefined;
  readonly endpointId?: string | undefined;
}

export function discoverResponse({ messageId }: ReplyHeader, endpoints: readonly Endpoint[]): AlexaEvent {
  return eventOf({ messageId }, "Alexa.Discovery", "Discover.Response", { endpoints: endpoints.map(endpointBody) });
}

/** All properties of the endpoint, as the answer to ReportState. */
export function stateReport(header: ReplyHeader, properties: readonly TimedProperty[]): AlexaEvent {
  return withContext(eventOf(header, "Alexa", "StateReport"), properties);
}

/** A command was carried out: all properties of the endpoint after it. */
export function response(header: ReplyHeader, properties: readonly TimedProperty[]): AlexaEvent {
  return withContext(eventOf(header, "Alexa", "Response"), properties);
}

export function errorResponse(header: ReplyHeader, { namespace, payload }: AlexaError): AlexaEvent {
  return eventOf(header, namespace, "ErrorResponse", payload);
}

/** A command runs on; its outcome follows through the event gateway. */
export function deferredResponse({ messageId, correlationToken }: ReplyHeader, seconds: number): AlexaEvent {
  const payload = { estimatedDeferralInSeconds: seconds };
  return eventOf({ messageId, correlationToken }, "Alexa", "DeferredResponse", payload);
}

export function acceptGrantResponse({ messageId }: ReplyHeader): AlexaEvent {
  return eventOf({ messageId }, "Alexa.Authorization", "AcceptGrant.Response");
}

/**
 * The changed properties, and in the context all others: no property stands in both. Undefined when no property has
 * changed: the changed fields have no Alexa property.
 */
export function changeReport(
  { messageId, endpointId }: { readonly messageId: string; readonly endpointId: string },
  properties: readonly TimedProperty[],
  hasChanged: (property: TimedProperty) => boolean,
): AlexaEvent | undefined {
  const changed = properties.filter(hasChanged);
  if (changed.length === 0) return undefined;
  // Alexa requires a cause. PERIODIC_POLL fits measured values. Who changed another property is not stored:
  // PHYSICAL_INTERACTION does not claim that Alexa or an app did.
  const type = changed.every(({ isMeasured }) => isMeasured) ? "PERIODIC_POLL" : "PHYSICAL_INTERACTION";
  const change = { cause: { type }, properties: changed.map(({ property }) => property) };
  const event = eventOf({ messageId, endpointId }, "Alexa", "ChangeReport", { change });
  return withContext(
    event,
    properties.filter((one) => !changed.includes(one)),
  );
}

/** Endpoints that are new, or that are described in another way than before. */
export function addOrUpdateReport(messageId: string, endpoints: readonly Endpoint[]): AlexaEvent {
  return eventOf({ messageId }, "Alexa.Discovery", "AddOrUpdateReport", { endpoints: endpoints.map(endpointBody) });
}

export function deleteReport(messageId: string, endpointIds: readonly string[]): AlexaEvent {
  const endpoints = endpointIds.map((endpointId) => ({ endpointId }));
  return eventOf({ messageId }, "Alexa.Discovery", "DeleteReport", { endpoints });
}

/**
 * The event with the token of the event gateway. It stands beside the endpoint, or in the payload of an event about
 * several endpoints. Events are kept without it.
 */
export function withScope({ event, ...context }: AlexaEvent, token: string): AlexaEvent {
  const scope: Scope = { type: "BearerToken", token };
  if (event.endpoint) return { ...context, event: { ...event, endpoint: { ...event.endpoint, scope } } };
  return { ...context, event: { ...event, payload: { ...event.payload, scope } } };
}

function eventOf(
  { messageId, correlationToken, endpointId }: ReplyHeader,
  namespace: string,
  name: string,
  payload: AlexaEvent["event"]["payload"] = {},
): AlexaEvent {
  const header = headerOf(namespace, name, messageId, correlationToken);
  return { event: { header, ...(endpointId !== undefined && { endpoint: { endpointId } }), payload } };
}

function headerOf(namespace: string, name: string, messageId: string, correlationToken?: string): Header {
  return {
    namespace,
    name,
    payloadVersion: "3",
    messageId,
    ...(correlationToken !== undefined && { correlationToken }),
  };
}

function withContext({ event }: AlexaEvent, properties: readonly TimedProperty[]): AlexaEvent {
  return { context: { properties: properties.map(({ property }) => property) }, event };
}
