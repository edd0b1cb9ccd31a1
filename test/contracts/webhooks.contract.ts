import { describe } from "node:test";
import { addressSealingCases } from "./store/address-sealing-cases.ts";
import type { StoreHarness } from "./store/harness.ts";
import { webhookBacklogCases } from "./store/webhook-backlog-cases.ts";
import { webhookThingCases } from "./store/webhook-thing-cases.ts";
import { webhookTurnCases } from "./store/webhook-turn-cases.ts";

/** The contract of every store for webhooks. */
export function describeWebhooks(name: string, harness: StoreHarness, options: { readonly skip?: string } = {}): void {
  describe(name, { skip: options.skip ?? false }, () => {
    describe("messages that are due", () => webhookTurnCases(harness));
    describe("messages that wait", () => webhookBacklogCases(harness));
    describe("messages about things", () => webhookThingCases(harness));
    describe("addresses of webhooks", () => addressSealingCases(harness));
  });
}
