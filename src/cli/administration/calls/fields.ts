import { orNull, type Schema, type TypedSchema, text } from "../../../model/json-schema.ts";
import type { AdminField } from "../../../operators/admin-call.ts";

/** The option that limits a list to one tenant. */
export const ofTenant: AdminField = {
  option: "tenant",
  kind: "text",
  meaning: "The name or id of a tenant; without it, of all tenants that you reach.",
};

/** The words that a list is searched for. */
export const filter: AdminField = {
  option: "filter",
  kind: "text",
  meaning: "Only entries whose name or id contains this text, in any case.",
};

export const time = (description: string): TypedSchema => text(`${description} ISO 8601.`);
export const timeOrNull = (description: string): Schema => orNull(time(description));
export const exampleTime = "2026-03-01T09:30:00.000Z";

/** Where the next page of a list begins. */
export const cursor = { cursor: text("Send it as `cursor` to get the next page. Left out on the last page.") };
