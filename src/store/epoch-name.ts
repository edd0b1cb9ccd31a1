import { randomBytes } from "node:crypto";

/** Names an epoch of the log (tables/log-epoch.ts). Random, so that two restores of one backup get two names. */
export function newEpochName(): string {
  return randomBytes(4).toString("hex");
}
