import type { Payload } from "./interfaces/interface.ts";

/** A message from Alexa that asks for something. */
export interface Directive {
  readonly namespace: string;
  readonly name: string;
  readonly instance: string | undefined;
  readonly payloadVersion: unknown;
  readonly correlationToken: string | undefined;
  /** Undefined: the directive is about no endpoint, or its id is not one that Alexa allows. */
  readonly endpointId: string | undefined;
  /** The user's access token; empty when there is none. */
  readonly token: string;
  readonly payload: Payload;
}

/** Reads the body of a request; undefined when it is no directive. */
export function readDirective(body: unknown): Directive | undefined {
  const directive = objectIn(objectIn(body)?.directive);
  const header = objectIn(directive?.header);
  if (!directive || typeof header?.namespace !== "string" || typeof header.name !== "string") return undefined;
  const endpoint = objectIn(directive.endpoint);
  const payload = objectIn(directive.payload) ?? {};
  return {
    namespace: header.namespace,
    name: header.name,
    instance: textIn(header.instance),
    payloadVersion: header.payloadVersion,
    correlationToken: textIn(header.correlationToken),
    endpointId: endpointIds.test(textIn(endpoint?.endpointId) ?? "") ? textIn(endpoint?.endpointId) : undefined,
    token: tokenIn(endpoint?.scope) ?? tokenIn(payload.scope) ?? tokenIn(payload.grantee) ?? "",
    payload,
  };
}

/** The ids that Alexa allows. */
const endpointIds = /^[a-zA-Z0-9_\-=#;:?@&]{1,256}$/;

function objectIn(value: unknown): Payload | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Payload) : undefined;
}

/** An empty text counts as none. */
function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function tokenIn(scope: unknown): string | undefined {
  return textIn(objectIn(scope)?.token);
}
