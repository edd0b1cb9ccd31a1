import { describe } from "node:test";
import { assistantTableCases } from "./store/assistant-table-cases.ts";
import { clientTableCases } from "./store/client-table-cases.ts";
import { commitCases } from "./store/commit-cases.ts";
import { credentialCases } from "./store/credential-cases.ts";
import { crossingAlertCases } from "./store/crossing-alert-cases.ts";
import { deliveryCases } from "./store/delivery-cases.ts";
import { deviceCountCases } from "./store/device-count-cases.ts";
import { deviceTableCases } from "./store/device-table-cases.ts";
import { deviceTypeMapCases } from "./store/device-type-map-cases.ts";
import { deviceTypeWorkCases } from "./store/device-type-work-cases.ts";
import { durabilityCases } from "./store/durability-cases.ts";
import { failedDeliveryCases } from "./store/failed-delivery-cases.ts";
import { failureCountCases } from "./store/failure-count-cases.ts";
import { fanRequestTableCases } from "./store/fan-request-table-cases.ts";
import { feedTableCases } from "./store/feed-table-cases.ts";
import { figureCases } from "./store/figure-cases.ts";
import { groupCases } from "./store/group-cases.ts";
import type { StoreHarness } from "./store/harness.ts";
import { homeNameCases } from "./store/home-name-cases.ts";
import { hostileValueCases } from "./store/hostile-value-cases.ts";
import { idempotencyKeyCases } from "./store/idempotency-key-cases.ts";
import { linkCases } from "./store/link-cases.ts";
import { linkHourCases } from "./store/link-hour-cases.ts";
import { linkSessionTableCases } from "./store/link-session-table-cases.ts";
import { logEpochCases } from "./store/log-epoch-cases.ts";
import { logTailCases } from "./store/log-tail-cases.ts";
import { migrationCases } from "./store/migration-cases.ts";
import { nodeBusCases } from "./store/node-bus-cases.ts";
import { nodeQuestionCases } from "./store/node-question-cases.ts";
import { operatorTableCases } from "./store/operator-table-cases.ts";
import { quotaTableCases } from "./store/quota-table-cases.ts";
import { refreshTokenTableCases } from "./store/refresh-token-table-cases.ts";
import { reusingOneDatabase } from "./store/reused-database.ts";
import { signInTableCases } from "./store/sign-in-table-cases.ts";
import { sinceCases } from "./store/since-cases.ts";
import { tableCases } from "./store/table-cases.ts";
import { tenantAndNodeCases } from "./store/tenant-and-node-cases.ts";
import { thingCommandTableCases } from "./store/thing-command-table-cases.ts";
import { thingFormCases } from "./store/thing-form-cases.ts";
import { thingTableCases } from "./store/thing-table-cases.ts";
import { thingTriggerTableCases } from "./store/thing-trigger-table-cases.ts";
import { transactionCases } from "./store/transaction-cases.ts";
import { userSessionTableCases } from "./store/user-session-table-cases.ts";

/** The contract of every store. A new database needs a harness that passes it. */
export function describeStore(
  name: string,
  harness: StoreHarness,
  options: { readonly skip?: string; readonly isBrief?: boolean } = {},
): void {
  describe(name, { skip: options.skip ?? false }, () => {
    describe("its tables", () => {
      const reusing = reusingOneDatabase(harness);
      tableCases(reusing);
      tenantAndNodeCases(reusing);
      nodeQuestionCases(reusing);
      quotaTableCases(reusing);
      deviceTableCases(reusing);
      deviceCountCases(reusing);
      clientTableCases(reusing);
      refreshTokenTableCases(reusing);
      signInTableCases(reusing);
      figureCases(reusing);
      linkHourCases(reusing);
      linkSessionTableCases(reusing);
      fanRequestTableCases(reusing);
      thingTableCases(reusing);
      homeNameCases(reusing);
      deviceTypeMapCases(reusing);
      deviceTypeWorkCases(reusing);
      thingCommandTableCases(reusing);
      thingTriggerTableCases(reusing);
      feedTableCases(reusing);
      assistantTableCases(reusing);
      operatorTableCases(reusing);
      userSessionTableCases(reusing);
    });
    describe("the schema", () => migrationCases(harness));
    // For another version of a database whose contract runs whole: only what its SQL could break.
    if (options.isBrief) return;
    describe("idempotency keys", () => idempotencyKeyCases(harness));
    describe("failures", () => failureCountCases(harness));
    describe("deliveries of webhooks", () => deliveryCases(harness));
    describe("failed deliveries of webhooks", () => failedDeliveryCases(harness));
    describe("its links", () => linkCases(harness));
    describe("the credentials of its links", () => credentialCases(harness));
    describe("its nodes", () => nodeBusCases(harness));
    describe("text from outside", () => hostileValueCases(harness));
    describe("a transaction", () => transactionCases(harness));
    describe("an acknowledged write", () => durabilityCases(harness));
    describe("the form of stored things", () => thingFormCases(harness));
    describe("the tail of the log", () => logTailCases(harness));
    describe("the log", () => logEpochCases(harness));
    describe("a commit", () => {
      commitCases(harness);
      crossingAlertCases(harness);
    });
    describe("a group of commits", () => groupCases(harness));
    describe("a client that polls with since", () => sinceCases(harness));
  });
}
