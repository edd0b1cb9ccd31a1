import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { type Dialect, storable } from "./sql.ts";

/** PostgreSQL compresses values from about this size on by itself; SQLite does not. */
const compressedFromBytes = 2_000;
const options = { level: constants.Z_BEST_SPEED };

/** The parameter that stores the text: on SQLite a large text becomes a compressed BLOB. */
export function compressedText(text: string, dialect: Dialect): string | Uint8Array {
  if (dialect === "postgres" || text.length < compressedFromBytes) return text;
  storable(text);
  return deflateRawSync(text, options);
}

/** The text of a stored value. */
export function expandedText(stored: string | Uint8Array): string {
  return typeof stored === "string" ? stored : inflateRawSync(stored).toString();
}
