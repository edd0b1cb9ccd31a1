import type { Transaction } from "../store/seam.ts";

/** The tables of operators. */
export type OperatorTables = Pick<
  Transaction,
  | "operators"
  | "operatorSessions"
  | "operatorTokens"
  | "operatorLinks"
  | "tenants"
  | "users"
  | "clients"
  | "audit"
  | "clock"
>;
