/** What a route tells about itself: the document at `/openapi.json` and the page at `/docs` are made from it. */
export interface Description {
  readonly operationId: string;
  readonly tag: TagName;
  readonly summary: string;
  /** Paragraphs in plain words; code stands between backquotes. */
  readonly words: readonly string[];
  readonly parameters?: readonly Parameter[];
  /** A body that is more than parameters. */
  readonly body?: ContentDescription;
  /** What it answers when all goes well. */
  readonly answers: readonly AnswerDescription[];
  /** What it refuses by itself; what all routes of its kind refuse is said in descriptions/errors.ts. */
  readonly errors?: readonly ErrorDescription[];
}

/** A platform operation tells the same; all of them share one route. */
export interface OperationDescription extends Description {
  /** What stands for `:operation` in the route's path. */
  readonly operation: string;
  readonly access: "public" | "secToken";
}

export type TagName =
  | "Authorization"
  | "Users and devices"
  | "Alerts"
  | "Events"
  | "Linked accounts"
  | "Platform calls"
  | "Authorization pages"
  | "Service";

export interface Parameter {
  readonly name: string;
  readonly in: Place;
  readonly isRequired: boolean;
  readonly isRepeatable?: boolean;
  readonly schema: Schema;
  readonly meaning: string;
  /** What the ready command sends; without one it leaves the parameter out. */
  readonly example?: string;
  /** A secret has no example: the ready command takes it from this variable of the shell. */
  readonly variable?: string;
}

/**
 * A `body` is a form or a JSON object. What may stand in the query or elsewhere belongs into the body where the method
 * has one: addresses are kept in logs and histories.
 */
export type Place = "path" | "header" | "query" | "form" | "body" | "queryOrForm" | "queryOrBody";

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
  | "text/plain"
  | "application/json"
  | "application/x-www-form-urlencoded"
  | "text/xml"
  | "text/html"
  | "text/event-stream"
  | "image/*";

export interface ErrorDescription {
  readonly status: number;
  /** The `error` of the standard error object, the `errorCode` of the adaptor and of platform faults. */
  readonly code: string | number;
  readonly when: string;
}

/** JSON Schema 2020-12 as far as we use it. What has a title becomes a component of the document, under that title. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly (string | number)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly xml?: { readonly name: string; readonly prefix: string; readonly namespace: string };
}

export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";
