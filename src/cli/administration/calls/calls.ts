import type { AdminCall } from "../../../operators/admin-call.ts";
import { clientCalls } from "./client-calls.ts";
import { homeCalls } from "./home-calls.ts";
import { linkCalls } from "./link-calls.ts";
import { operatorCalls } from "./operator-calls.ts";
import { serviceCalls } from "./service-calls.ts";
import { tenantCalls } from "./tenant-calls.ts";
import { userCalls } from "./user-calls.ts";

/** Every command of administrators that can be called over HTTP, with its address and its rule. */
export const adminCalls: readonly AdminCall[] = [
  ...tenantCalls,
  ...userCalls,
  ...clientCalls,
  ...linkCalls,
  ...homeCalls,
  ...operatorCalls,
  ...serviceCalls,
];
