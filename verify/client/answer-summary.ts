import type { Answer } from "./deployment.ts";

/** An answer in a few words: its status with its error code or content type, never its body. */
export function summaryOf({ status, json, text, headers }: Answer): string {
  const code = json?.error ?? (json?.errorCode === undefined ? undefined : `errorCode ${json.errorCode}`);
  if (code !== undefined) return `${status} ${code}`;
  const type = (headers.get("content-type") ?? "no content type").split(";")[0];
  return json === undefined && text !== "" ? `${status} with ${type}` : `${status}`;
}
