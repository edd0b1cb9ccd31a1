import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";

/** What Google says of a refused call: its own message, and the name of the error. */
export function refusalIn({ error }: JsonObject): { readonly message?: string; readonly status?: string } {
  if (!isJsonObject(error)) return {};
  const { message, status } = error;
  return {
    ...(typeof message === "string" && message !== "" && { message }),
    ...(typeof status === "string" && { status }),
  };
}

/** How a refused call is described to operators, without the message: it may quote what was sent. */
export function describeRefusal(status: number, document: JsonObject): string {
  const { status: name } = refusalIn(document);
  return `Google answered ${status}${name !== undefined && /^[A-Z_]{1,40}$/.test(name) ? ` ${name}` : ""}`;
}
