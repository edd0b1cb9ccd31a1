import type { Description } from "../documentation/description.ts";

export const jsonBody = "application/json";
export const formBody = "application/x-www-form-urlencoded";
/** One JSON value in each line. */
export const ndjsonBody = "application/x-ndjson";
export type MediaType = typeof jsonBody | typeof formBody | typeof ndjsonBody;

/** The media types of bodies that a described route takes; none when it takes no body. */
export function bodyTypesOf({ body, parameters = [] }: Description): readonly MediaType[] {
  if (body?.contentType === ndjsonBody) return [ndjsonBody];
  if (body) return body.contentType === formBody ? [formBody] : [jsonBody];
  const places = new Set(parameters.map(({ in: place }) => place));
  if (places.has("form") || places.has("queryOrForm")) return [formBody];
  return places.has("body") || places.has("queryOrBody") ? [formBody, jsonBody] : [];
}
