import { randomUUID } from "node:crypto";
import type { JsonObject } from "../home/json.ts";

const errorPage = "https://developers.nest.com/documentation/cloud/error-messages";

/** A refusal in the ecosystem's own words. The anchor names the paragraph of its page; not every refusal has one. */
export class EcosystemError extends Error {
  readonly status: number;
  readonly anchor: string | undefined;
  readonly details: JsonObject | undefined;

  constructor(status: number, message: string, anchor?: string, details?: JsonObject) {
    super(message);
    this.name = "EcosystemError";
    this.status = status;
    this.anchor = anchor;
    this.details = details;
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

export function unauthorized(): EcosystemError {
  return new EcosystemError(401, "unauthorized", "auth-error");
}

export function nothingThere(): EcosystemError {
  return new EcosystemError(404, "not found", "not-found");
}

export function noWritePermission(fields: readonly string[]): EcosystemError {
  const list = fields.join(", ");
  const message = `No write permission(s) for field(s): ${list}`;
  return new EcosystemError(400, message, "no-write-permission", { fields: list });
}
