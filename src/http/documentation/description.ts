import type { Schema } from "../../model/json-schema.ts";

/** The description of a route, from which `/openapi.json` and `/docs` are made. */
export interface Description {
  readonly operationId: string;
  readonly tag: TagName;
  readonly summary: string;
  /** Paragraphs in plain words; code stands between backquotes. */
  readonly words: readonly string[];
  readonly parameters?: readonly Parameter[];
  /** A body that is more than parameters. */
  readonly body?: ContentDescription;
  /** Successful answers. */
  readonly answers: readonly AnswerDescription[];
  /** Errors of this route; the errors of all routes are in common-errors.ts. */
  readonly errors?: readonly ErrorDescription[];
}

/** The description of a platform operation; all operations share one route. */
export interface OperationDescription extends Description {
  /** The value of `:operation` in the route's path. */
  readonly operation: string;
  readonly access: "public" | "secToken";
}

export type TagName =
  | "Authorization"
  | "Users and devices"
  | "Provisioning"
  | "Things"
  | "Alerts"
  | "Events"
  | "Linked accounts"
  | "Platform calls"
  | "Authorization pages"
  | "Link pages"
  | "Account pages"
  | "Assistants"
  | "Administration"
  | "Console pages"
  | "Service";

export interface Parameter {
  readonly name: string;
  readonly in: ParameterLocation;
  readonly isRequired: boolean;
  readonly isRepeatable?: boolean;
  readonly schema: Schema;
  readonly meaning: string;
  /** The value in the example command; without one the command leaves the parameter out. */
  readonly example?: string;
  /** The shell variable that holds a secret in the example command. A secret has no example. */
  readonly variable?: string;
}

/**
 * A `body` is a form or a JSON object. A parameter that may come in the query or in the body belongs into the body
 * where the method has one: addresses end up in logs and histories.
 */
export type ParameterLocation = "path" | "header" | "query" | "form" | "body" | "queryOrForm" | "queryOrBody";

export interface AnswerDescription {
  readonly status: number;
  readonly meaning: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content?: ContentDescription;
}

export interface ContentDescription {
  readonly contentType: ContentType;
  readonly schema: Schema;
  /** A value for JSON, the text itself for everything else. */
  readonly example?: unknown;
}

export type ContentType =
  | "text/csv"
  | "text/plain"
  | "application/json"
  | "application/x-ndjson"
  | "application/x-www-form-urlencoded"
  | "text/xml"
  | "text/html"
  | "text/event-stream"
  | "text/javascript"
  | "image/*";

export interface ErrorDescription {
  readonly status: number;
  /** The `error` of the standard error object, the `errorCode` of the adaptor and of platform faults. */
  readonly code: string | number;
  readonly when: string;
}
