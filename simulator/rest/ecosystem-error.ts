import { randomUUID } from "node:crypto";
import type { JsonObject } from "../home/json.ts";
import { Refusal } from "../refusal.ts";

const errorPage = "https://developers.nest.com/documentation/cloud/error-messages";

/** A refusal in the ecosystem's own words. The anchor names the paragraph of its page; not every refusal has one. */
export class EcosystemError extends Error {
  readonly status: number;
  readonly anchor: string | undefined;
  readonly details: JsonObject | undefined;
  /** Headers that belong to the refusal. */
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

  /** The body of the answer; each has an instance of its own. */
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

/** Whatever was thrown, as the ecosystem would say it. */
export function inEcosystemWords(error: unknown): EcosystemError {
  if (error instanceof EcosystemError) return error;
  if (error instanceof Refusal) return new EcosystemError(error.status, error.message);
  return new EcosystemError(500, "internal error");
}

export function unauthorized(): EcosystemError {
  return new EcosystemError(401, "unauthorized", "auth-error");
}

export function nothingThere(): EcosystemError {
  return new EcosystemError(404, "not found", "not-found", simulatorsWords);
}

/** Marks a refusal whose text the ecosystem never published: a client must not look for it in the real one. */
const simulatorsWords: JsonObject = { words: "the simulator's own" };

/** A refusal for which the ecosystem published no text. */
export function ownWords(message: string, status = 400): EcosystemError {
  return new EcosystemError(status, message, undefined, simulatorsWords);
}

export function invalidContent(): EcosystemError {
  return new EcosystemError(400, "Invalid content sent", "invalid-content-sent", simulatorsWords);
}

export function noWritePermission(fields: readonly string[]): EcosystemError {
  const list = fields.join(", ");
  const message = `No write permission(s) for field(s): ${list}`;
  return new EcosystemError(400, message, "no-write-permission", { fields: list });
}

/** Too many commands or requests; whoever sends the header gives it. */
export function blocked(retryAfter: string | undefined): EcosystemError {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
  return new EcosystemError(429, "blocked", "blocked", undefined, headers);
}
