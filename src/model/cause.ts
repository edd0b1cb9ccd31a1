import type { UserId } from "./ids.ts";

/** Why a device changed, as the log keeps it. */
export type Cause =
  | { readonly by: "ecosystem" }
  | { readonly by: "client"; readonly user: UserId }
  | { readonly by: "alert"; readonly alert: number; readonly hop: number }
  | { readonly by: "administrator" };

export const causes: readonly Cause["by"][] = ["ecosystem", "client", "alert", "administrator"];
