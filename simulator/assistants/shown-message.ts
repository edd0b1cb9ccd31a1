import type { ShownMessage } from "./journal.ts";

/** Members whose values let their holder act for a person. */
const secretMembers = new Set(["token", "code", "access_token", "refresh_token", "assertion"]);
const mask = "(masked)";
/** A discovery of a large home is longer; nobody reads that. */
const longestText = 20_000;

/** A message with line breaks and without secrets. */
export function shownMessage(name: string, message: unknown): ShownMessage {
  const hide = (key: string, value: unknown) => (secretMembers.has(key) && typeof value === "string" ? mask : value);
  const text = JSON.stringify(message, hide, 2) ?? "";
  const isCut = text.length > longestText;
  return {
    name,
    text: isCut ? `${text.slice(0, longestText)}\n… (${text.length - longestText} more characters)` : text,
  };
}
