import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boundedFilter } from "../../src/events/event-filter.ts";
import { CompiledFilters } from "../../src/events/webhooks/compiled-filters.ts";
import { type WebhookOwner, type WebhookParts, webhooksOn } from "../../src/events/webhooks/webhooks.ts";
import type { BreezewayError } from "../../src/model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import type { Resolve } from "../../src/runtime/network/public-address.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";
import { home, send } from "./made-home.ts";

const names = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`);
const devices = (count: number) => Array.from({ length: count }, (_, i) => (i + 1) as DeviceId);

describe("a filter of events", () => {
  it("is refused when it names too many devices or attributes, duplicates not counted", () => {
    const [lamp] = devices(1);
    const copies = { deviceIds: Array(30_000).fill(lamp), attributes: Array(30_000).fill("power") };
    assert.deepEqual(boundedFilter(copies), { deviceIds: [lamp], attributes: ["power"] });
    const most = { deviceIds: devices(limits.filterDevices), attributes: names(limits.filterNames) };
    assert.deepEqual(boundedFilter(most), most);
    for (const [filter, limit] of [
      [{ ...most, deviceIds: devices(limits.filterDevices + 1) }, "filterDevices"],
      [{ ...most, attributes: names(limits.filterNames + 1) }, "filterNames"],
    ] as const) {
      assert.throws(() => boundedFilter(filter), { code: "limit_reached", limit });
    }
  });

  it("is compiled once for each webhook, and the least recently used are evicted", () => {
    const filters = new CompiledFilters(() => assert.fail("unreadable"));
    const webhook = (n: number) => ({ id: `wh_${n}`, deviceIds: [], attributes: [] });
    const compiled = filters.of(webhook(0));
    for (let n = 1; n < 2_000; n++) filters.of(webhook(n));
    assert.equal(filters.of(webhook(0)), compiled);
    filters.of(webhook(2_000));
    assert.equal(filters.of(webhook(0)), compiled);
    for (let n = 3_000; n < 5_000; n++) filters.of(webhook(n));
    assert.notEqual(filters.of(webhook(0)), compiled);
  });

  it("is bounded for webhooks, streams and history alike", { timeout: 60_000 }, async (t) => {
    const { world, token, lamp } = await home(t, { environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } });
    const url = "http://127.0.0.1:9/";
    const path = `${world.baseUrl}/v3`;
    const copies = await send(`${path}/webhooks`, token, "POST", { url, deviceIds: Array(30_000).fill(lamp) });
    assert.deepEqual([copies.status, copies.body.deviceIds], [201, [lamp]]);
    const attributes = names(limits.filterNames + 1);
    const query = (name: string, values: readonly (string | number)[]) =>
      values.map((one) => `${name}=${one}`).join("&");
    const refused = [
      await send(`${path}/webhooks`, token, "POST", { url, deviceIds: devices(limits.filterDevices + 1) }),
      await send(`${path}/webhooks`, token, "POST", { url, attributes }),
      await send(`${path}/events?${query("deviceId", devices(limits.filterDevices + 1))}`, token, "GET"),
      await send(`${path}/events?${query("attribute", attributes)}`, token, "GET"),
      await send(`${path}/devices/${lamp}/history?${query("attribute", attributes)}`, token, "GET"),
    ];
    assert.deepEqual(
      refused.map(({ status, body }) => [status, body.error]),
      refused.map(() => [409, "limit_reached"]),
    );
  });
});

describe("the address of a new webhook", () => {
  const owner = { kind: "user", userId: 1 as UserId, tenantId: 1 as TenantId, clientId: "c" } as const;
  const unfiltered = { deviceIds: [], attributes: [] };

  it("is looked up only when the owner may have another webhook", async () => {
    let lookups = 0;
    const { webhooks } = addingTo(limits.webhooksPerOwner, async () => {
      lookups += 1;
      return [];
    });
    const url = "https://a.example/";
    await assert.rejects(webhooks.add(owner, { url, ...unfiltered }), { limit: "webhooksPerOwner" });
    const tooMany = { url, deviceIds: [], attributes: names(limits.filterNames + 1) };
    await assert.rejects(webhooks.add(owner, tooMany), { limit: "filterNames" });
    assert.equal(lookups, 0);
  });

  it("is refused with one sentence, whether it is private or unknown", async () => {
    const addresses: Readonly<Record<string, string>> = { "inside.example": "10.0.0.1" };
    const { webhooks, added } = addingTo(0, async (host) => {
      const address = addresses[host];
      return address ? [{ address, family: 4 }] : [];
    });
    const sentences = new Set<string>();
    for (const url of ["https://inside.example/", "https://unknown.example/", "https://10.0.0.1/"]) {
      await webhooks
        .add(owner, { url, ...unfiltered })
        .catch(({ code, message }) => sentences.add(`${code} ${message}`));
    }
    assert.deepEqual(
      [...sentences],
      ["bad_parameter The member url must be a public https address that can be resolved."],
    );
    assert.equal(added(), 0);
  });

  it("is looked up for two of one owner at a time, and for others meanwhile", async () => {
    const asked: string[] = [];
    const { promise, resolve } = Promise.withResolvers<readonly []>();
    const { webhooks } = addingTo(0, (host) => {
      asked.push(host);
      return promise;
    });
    const add = (by: WebhookOwner & { readonly tenantId: TenantId }, host: string) =>
      webhooks.add(by, { url: `https://${host}/`, ...unfiltered }).catch((error: BreezewayError) => error.code);
    const own = Array.from({ length: 50 }, (_, number) => add(owner, `a${number}.example`));
    const others = add({ kind: "enterprise", tenantId: owner.tenantId, clientId: "d" }, "b.example");
    await flushPromises();
    assert.deepEqual(asked, ["a0.example", "a1.example", "b.example"]);
    resolve([]);
    const refused = (await Promise.all([...own, others])).filter((code) => code === "too_many_requests");
    const admitted = limits.outgoingCallsPerUser + limits.outgoingCallsWaitingPerUser;
    assert.deepEqual([asked.length, refused.length], [admitted + 1, 50 - admitted]);
  });

  it("is no longer looked up, nor added, when its client has disconnected", async () => {
    let lookups = 0;
    const gone = new AbortController();
    const { webhooks, added } = addingTo(0, async () => {
      lookups += 1;
      gone.abort();
      return [{ address: "8.8.8.8", family: 4 }];
    });
    const add = (host: string) => webhooks.add(owner, { url: `https://${host}/`, ...unfiltered }, gone.signal);
    await Promise.all([assert.rejects(add("a.example")), assert.rejects(add("b.example"))]);
    assert.deepEqual([lookups, added()], [1, 0]);
  });
});

/** Webhooks of an owner with `count` webhooks, on a store that only counts additions. */
function addingTo(count: number, resolve: Resolve) {
  let added = 0;
  const tables = { webhooks: { ofOwner: async () => Array(count).fill({}) } };
  const store = {
    isShared: false,
    read: (body: (tx: typeof tables) => unknown) => body(tables),
    transaction: async () => {
      added += 1;
    },
  } as unknown as WebhookParts["store"];
  const webhooks = webhooksOn({
    store,
    resolve,
    allowsPrivate: false,
    outgoing: new OutgoingCalls({ timers: manualRuntime() }),
    seal: (secret) => secret,
    addressOf: ({ url }) => url,
    sealsAddresses: () => true,
    newId: () => "wh_1",
    wake: () => undefined,
  });
  return { webhooks, added: () => added };
}
