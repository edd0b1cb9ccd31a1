import type { AlexaMessage } from "./alexa-message.ts";
import { mostEndpoints, type Region } from "./customer.ts";
import type { LoginWithAmazon } from "./login-with-amazon.ts";

export interface GatewayAnswer {
  readonly status: number;
  /** Alexa's name of the error; undefined when the event was accepted. */
  readonly code?: string;
}

/** What the event gateway of a region answers to an event. */
export function answerEvent(
  login: LoginWithAmazon,
  region: Region,
  bearer: string | undefined,
  body: unknown,
): GatewayAnswer {
  const customer = bearer === undefined ? undefined : login.customerOf(bearer);
  if (!customer) return { status: 401, code: "INVALID_ACCESS_TOKEN_EXCEPTION" };
  if (!customer.isEnabled) return { status: 403, code: "SKILL_DISABLED_EXCEPTION" };
  if (customer.region !== region) return { status: 403, code: "SKILL_NEVER_ENABLED_EXCEPTION" };
  const message = body as AlexaMessage;
  const header = message?.event?.header;
  const isKnown = typeof header?.messageId === "string" && eventNames.includes(header.name);
  const scope = message?.event?.endpoint?.scope ?? (message?.event?.payload?.scope as { token: string } | undefined);
  if (!isKnown || scope?.token !== bearer) return { status: 400, code: "INVALID_REQUEST_EXCEPTION" };
  const endpoints = message.event.payload.endpoints as readonly unknown[] | undefined;
  const isTooLarge = (endpoints?.length ?? 0) > mostEndpoints || !customer.hasRoomFor(message);
  if (isTooLarge) return { status: 413, code: "REQUEST_ENTITY_TOO_LARGE_EXCEPTION" };
  customer.receive(message);
  return { status: 202 };
}

/** The events that the gateway takes. */
const eventNames = ["ChangeReport", "AddOrUpdateReport", "DeleteReport", "Response", "ErrorResponse"];
