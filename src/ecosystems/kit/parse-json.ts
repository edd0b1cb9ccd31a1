import { limits } from "../../model/limits.ts";
import { largeBounds, parseUntrusted } from "../../runtime/json/untrusted-json.ts";

export { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";

/** Maximal size of one message: many times a full account, which is about 90 kB. */
export const largestMessageBytes = limits.streamMessageBytes;

export const parseJson = (text: string): unknown => parseUntrusted(text, largeBounds);
