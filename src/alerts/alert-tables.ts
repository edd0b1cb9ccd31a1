import type { Transaction } from "../store/seam.ts";

/** The tables that the calls of alerts read and write. */
export type AlertTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "deviceTypeMaps"
  | "mappedDevices"
  | "attributes"
  | "things"
  | "triggers"
  | "thingTriggers"
  | "idempotencyKeys"
  | "log"
  | "clock"
>;
