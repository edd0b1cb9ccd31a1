import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../stories/world.ts";
import { EventStream } from "./event-stream.ts";
import { home, send, write } from "./made-home.ts";
import { receiver } from "./receiver.ts";

describe("streams and webhooks of a client without the scope alerts", () => {
  it("send events of devices but no firings of alerts, and end with their grant", {
    timeout: 60_000,
  }, async (t) => {
    const { world, token, lamp } = await home(t, { environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } });
    const firing = { deviceId: lamp, attrName: "power", operation: "equals", stringThreshold: "on", action: "email" };
    assert.equal((await send(`${world.baseUrl}/v3/alerts`, token, "POST", firing)).status, 201);
    // A client that has no other grant.
    const client = await world.addClient();
    const scoped = async (scope: string) =>
      (await world.exchange(await world.code({ client_id: client.id, scope }), client)).body;
    const more = await scoped("webhooks devices:read alerts");
    const less = await scoped("webhooks devices:read");
    const streams = [];
    for (const { access_token } of [more, less]) {
      const stream = await EventStream.open(world.baseUrl, access_token);
      t.after(() => stream.close());
      streams.push(stream);
    }
    const receivers = [await receiver(t), await receiver(t)];
    for (const [place, { access_token }] of [more, less].entries()) {
      const made = await send(`${world.baseUrl}/v3/webhooks`, access_token, "POST", { url: receivers[place]!.url });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }

    await write(world, token, lamp, { power: "on" });
    await write(world, token, lamp, { power: "off" });
    const isOff = ({ data }: { readonly data: { readonly value?: unknown } }) => data.value === "off";
    for (const stream of streams) await stream.until(1, isOff);
    const names = streams.map(({ events }) => events.map(({ name }) => name));
    assert.deepEqual(names, [
      ["attribute", "alert", "attribute"],
      ["attribute", "attribute"],
    ]);
    for (const { received } of receivers) {
      // Messages of one device come in order.
      await eventually(t.signal, async () =>
        assert.ok(received.some(({ message }) => message.data.attributes?.power === "off")),
      );
    }
    assert.deepEqual(
      receivers.map(({ received }) => received.map(({ message }) => message.type)),
      names,
    );

    const webhooks = async () => (await world.get("/v3/webhooks", less.access_token)).body.webhooks;
    assert.equal((await webhooks()).length, 2);
    await world.revoke(more.access_token, client);
    const left = (await webhooks()).map(({ url }: { readonly url: string }) => url);
    assert.deepEqual(left, [receivers[1]!.url], "no grant that is left allows to hear of alerts");
  });
});
