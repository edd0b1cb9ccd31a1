import { randomUUID } from "node:crypto";
import type { JsonObject } from "../home/json.ts";
import { Refusal } from "../refusal.ts";

const errorPage = "https://developers.nest.com/documentation/cloud/error-messages";

/** A refusal of the ecosystem. The anchor names the paragraph of its page of errors; not every refusal has one. */
export class EcosystemError extends Error {
  readonly status: number;
  readonly anchor: string | undefined;
  readonly details: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    anchor?: string,
    details?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "EcosystemError";
    this.status = status;
    this.anchor = anchor;
    this.details = details;
    this.headers = headers;
  }

  /** The body of the answer, with a new `instance` at each call. */
  body(): JsonObject {
    return {
      error: this.message,
      type: this.anchor === undefined ? errorPage : `${errorPage}#${this.anchor}`,
      message: this.message,
      instance: randomUUID(),
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

export function toEcosystemError(error: unknown): EcosystemError {
  if (error instanceof EcosystemError) return error;
  if (error instanceof Refusal) return new EcosystemError(error.status, error.message);
  return new EcosystemError(500, "internal error");
}

export function unauthorized(): EcosystemError {
  return new EcosystemError(401, "unauthorized", "auth-error");
}

export function elementNotFound(): EcosystemError {
  return new EcosystemError(404, "not found", "not-found", unpublishedText);
}

/** Marks a refusal whose text the ecosystem never published: clients must not rely on it. */
const unpublishedText: JsonObject = { words: "the simulator's own" };

/** A refusal for which the ecosystem published no text. */
export function unpublished(message: string, status = 400): EcosystemError {
  return new EcosystemError(status, message, undefined, unpublishedText);
}

export function invalidContent(): EcosystemError {
  return new EcosystemError(400, "Invalid content sent", "invalid-content-sent", unpublishedText);
}

export function noWritePermission(fields: readonly string[]): EcosystemError {
  const list = fields.join(", ");
  const message = `No write permission(s) for field(s): ${list}`;
  return new EcosystemError(400, message, "no-write-permission", { fields: list });
}

/** Too many commands or requests, with an optional `Retry-After` header. */
export function blocked(retryAfter: string | undefined): EcosystemError {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
  return new EcosystemError(429, "blocked", "blocked", undefined, headers);
}
