import type { AdminCall } from "../../../operators/admin-call.ts";
import { accessCalls } from "./access-calls.ts";
import { alertCalls } from "./alert-calls.ts";
import { clientCalls } from "./client-calls.ts";
import { deviceCalls } from "./device-calls.ts";
import { eventCalls } from "./event-calls.ts";
import { homeCalls } from "./home-calls.ts";
import { keyCalls } from "./key-calls.ts";
import { linkCalls } from "./link-calls.ts";
import { nameCalls } from "./name-calls.ts";
import { operatorCalls } from "./operator-calls.ts";
import { overviewCalls } from "./overview-calls.ts";
import { serviceCalls } from "./service-calls.ts";
import { tenantCalls } from "./tenant-calls.ts";
import { thingCalls } from "./thing-calls.ts";
import { trafficCalls } from "./traffic-calls.ts";
import { userCalls } from "./user-calls.ts";

/** Every act of administrators that can be called over HTTP, with its address and its rule. */
export const adminCalls: readonly AdminCall[] = [
  ...tenantCalls,
  ...userCalls,
  ...clientCalls,
  ...nameCalls,
  ...accessCalls,
  ...linkCalls,
  ...homeCalls,
  ...alertCalls,
  ...eventCalls,
  ...deviceCalls,
  ...trafficCalls,
  ...thingCalls,
  ...operatorCalls,
  ...serviceCalls,
  ...overviewCalls,
  ...keyCalls,
];

/**
 * Commands that need the machine itself: a claim link is for someone with a shell there, a lost key and a restored store
 * are repaired there.
 */
export const onlyOnTheMachine: readonly string[] = ["operator claim", "key drop", "restored"];
