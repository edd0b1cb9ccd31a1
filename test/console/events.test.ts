import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chainsOf } from "../../src/events/chains.ts";
import type { TailedEntry } from "../../src/store/tables/log.ts";
import { receiver } from "../events/receiver.ts";
import { eventually } from "../stories/world.ts";
import { hostileName, pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";

describe("the page of events", () => {
  it("shows one entry for each cause: a change, the alert, its write, and the message about it", async (t) => {
    const { house, run, owner, invited } = await consoleWorld(t, { allowsPrivateWebhooks: true });
    await run("tenant add", { name: "Other" });
    const { parts } = house.service;
    const user = String(house.userId);
    const [lamp, second] = [await house.addLamp(hostileName), await house.addLamp("Second")];
    const hook = await receiver(t);
    const { tenantId } = await parts.identity.findUser(house.userId);
    const { client_id: clientId } = await run("client add", {
      tenant: String(tenantId),
      name: "Rules",
      kind: "enterprise",
    });
    const owning = { kind: "enterprise", tenantId, clientId } as const;
    await parts.events.webhooks.add(owning, { url: hook.url, deviceIds: [second], attributes: [] });
    await run("home alert add", {
      user,
      device: String(lamp),
      attribute: "power",
      value: "on",
      set: [`${second},power=on`],
    });
    await parts.devices.write({ kind: "user", userId: house.userId }, lamp, [{ name: "power", value: "on" }]);
    const operator = await owner();
    await eventually(t.signal, async () => {
      assert.match(await pageText(operator, `/events?user=${user}`), /1 message delivered/);
    });
    const page = await pageText(operator, `/events?user=${user}&kind=alert`);
    const entries = page.match(/<details id="event-/g) ?? [];
    assert.equal(entries.length, 1, "the chain is one entry");
    assert.match(
      page,
      /Voice.* power is &quot;on&quot;.*fired at &quot;on&quot;.*Second: power is &quot;on&quot;.*to a webhook/s,
    );
    assert.ok(page.includes("2 more steps"));
    assert.ok(page.includes("&lt;b&gt;Voice") && !page.includes("<b>Voice"));
    assert.match(page, /breezeway event watch --things --user \d+/);
    assert.match(page, /Nothing since .*<span class="when-live">; the stream is live/s);
    assert.match(await pageText(operator, `/events?device=${second}`), /Second/);
    assert.match(await pageText(operator, "/events?kind=odd"), /role="alert"/);

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const next = await run("home events", { user, "page-size": "1", ...(cursor && { cursor }) });
      seen.push(...next.events.map((one: { eventId: string }) => one.eventId));
      cursor = next.cursor;
    } while (cursor !== undefined);
    const all = (await run("home events", { user })).events.map((one: { eventId: string }) => one.eventId);
    assert.ok(all.length > 3);
    assert.deepEqual(seen, all);

    const stranger = await invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    // A page chooses the only tenant by itself; a call need not.
    assert.deepEqual((await stranger.call("GET", "/events")).body.events, []);
    assert.deepEqual((await stranger.call("GET", "/alerts")).body.alerts, []);
    assert.doesNotMatch(await pageText(stranger, "/events"), /<details id="event-/);
    assert.doesNotMatch(await pageText(stranger, `/events?user=${user}`), /<details id="event-/);
  });
});

describe("chains of causes", () => {
  let id = 0;
  const entry = (userId: number, kind: TailedEntry["kind"], body: object): TailedEntry => {
    id += 1;
    const position = { transaction: 0, id };
    return { userId, deviceId: 1, kind, timeMs: id, body: JSON.stringify(body), position, tenantId: 1 } as TailedEntry;
  };
  const kindsOf = (entries: readonly TailedEntry[]) =>
    chainsOf(entries.toReversed()).map(({ steps }) => steps.map(({ kind, userId }) => `${userId} ${kind}`));

  it("are told apart for users whose entries alternate, and hold what becomes of a command", () => {
    const change = { cause: { by: "ecosystem" }, changes: [] };
    const entries = [
      entry(1, "attribute", change),
      entry(2, "attribute", change),
      entry(1, "alert", { alert: 7 }),
      entry(1, "thingCommand", { id: 4, alert: 7, state: "queued" }),
      entry(2, "attribute", { cause: { by: "client", user: 2 } }),
      entry(1, "attribute", change),
      entry(1, "thingCommand", { id: 4, alert: 7, state: "confirmed" }),
      entry(1, "attribute", { cause: { by: "alert", alert: 8, hop: 1 } }),
    ];
    assert.deepEqual(kindsOf(entries), [
      ["1 attribute", "1 attribute"],
      ["2 attribute"],
      ["2 attribute"],
      ["1 attribute", "1 alert", "1 thingCommand", "1 thingCommand"],
    ]);
  });

  it("begin with what is left of them, and survive an entry that can't be read", () => {
    assert.deepEqual(kindsOf([entry(1, "alert", { alert: 7 })]), [["1 alert"]]);
    assert.deepEqual(kindsOf([{ ...entry(1, "attribute", {}), body: "{" }]), [["1 attribute"]]);
  });
});
