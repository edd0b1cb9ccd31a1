import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import { type Answered, admin } from "../oauth/oauth-world.ts";
import { type Deployment, eventually, longSuiteOn } from "../stories/world.ts";
import { home, send, write } from "./made-home.ts";
import { receiver } from "./receiver.ts";

const hour = 3_600_000;

for (const database of longSuiteOn("postgres")) {
  describe(`a webhook on ${database}`, () => {
    it("gets each commit, signed as Standard Webhooks says", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, call, hook, add } = await listening(t, database);
      // On PostgreSQL the first round refuses older versions, the second seals.
      await world.service.parts.addressSealing.round();
      const { webhookId, secret } = await add({});
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/);
      await write(world, token, lamp, { power: "on", level: 7 });
      await write(world, token, lamp, { power: null });
      await hook.until(2);
      const verifying = new Webhook(secret);
      for (const { body, headers, message } of hook.received) {
        assert.deepEqual(verifying.verify(body, headers as Record<string, string>), message);
        assert.throws(() => verifying.verify(`${body} `, headers as Record<string, string>));
      }
      const cause = { by: "client", user: world.userId };
      assert.deepEqual(
        hook.received.map(({ message: { type, data } }) => [type, data.deviceId, data.attributes, data.cause]),
        [
          ["attribute", lamp, { power: "on", level: "7" }, cause],
          ["attribute", lamp, { power: null }, cause],
        ],
      );
      const { body } = await call("GET", "");
      assert.deepEqual(Object.keys(body.webhooks[0]), ["webhookId", "url", "deviceIds", "attributes", "createdTime"]);
      assert.ok(!world.logged.join("").includes(secret));
      const stored = await world.service.parts.store.read((tx) =>
        tx.webhooks.byKey({ ownerId: world.userId, id: webhookId }),
      );
      assert.match(stored!.sealedSecret, /^v1\./);
      assert.deepEqual([stored!.url, stored!.sealedUrl?.slice(0, 3)], ["", "v1."]);
      assert.equal(body.webhooks[0].url, hook.url);
      assert.ok(!stored!.sealedSecret.includes(secret.slice(6)));
      assert.deepEqual((await call("DELETE", `/${webhookId}`)).body, { status: "OK" });
      assert.deepEqual((await call("GET", "")).body, { webhooks: [] });
    });

    it("gets a message again until it accepts it, each device in order and independent of others", {
      timeout: 90_000,
    }, async (t) => {
      const { world, token, lamp, call, hook, add } = await listening(t, database);
      const other = await world.addDevice(world.userId, "Other lamp");
      const { webhookId } = await add({});
      hook.behaviour.answer = ({ message }) => ({ status: message.data.deviceId === lamp ? 500 : 200 });
      for (const value of ["1", "2", "3"]) {
        await write(world, token, lamp, { a: value });
        await write(world, token, other, { a: value });
      }
      const valuesOf = (deviceId: number) =>
        hook.received
          .filter(({ message: { data } }) => data.deviceId === deviceId)
          .map(({ message }) => message.data.attributes.a);
      // The creation of the device is sent as well.
      await eventually(t.signal, async () => assert.deepEqual(valuesOf(other), ["1", "2", "3"]));
      assert.ok(valuesOf(lamp).every((value) => value === "1"));
      const stuck = async () =>
        (await call("GET", `/${webhookId}/deliveries`)).body.deliveries
          .filter(({ deviceId }: { deviceId: number }) => deviceId === lamp)
          .reverse();
      await eventually(t.signal, async () => assert.equal((await stuck())[0].status, 500));
      const [head, ...rest] = await stuck();
      assert.deepEqual([head.state, head.text, rest.length], ["waiting", "answered 500", 2]);
      assert.ok(
        rest.every(
          ({ nextTime, attempts }: { nextTime: null; attempts: number }) => nextTime === null && attempts === 0,
        ),
      );

      await world.restart();
      hook.behaviour.answer = () => ({ status: 200 });
      await world.timePasses(2 * hour);
      await eventually(t.signal, async () => assert.deepEqual([...new Set(valuesOf(lamp))], ["1", "2", "3"]));
      const ids = hook.received
        .filter(({ message }) => message.data.attributes?.a === "1" && message.data.deviceId === lamp)
        .map(({ headers }) => headers["webhook-id"]);
      assert.equal(new Set(ids).size, 1);
      assert.ok(ids.length > 1);
    });

    it("has a message given up after a day, which deliveries show, and it can be resent", {
      timeout: 90_000,
    }, async (t) => {
      const { world, token, lamp, hook, add, callBy } = await listening(t, database);
      const { webhookId } = await add({});
      hook.behaviour.answer = () => ({ status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" } });
      await write(world, token, lamp, { a: "1" });
      await hook.until(1);
      await world.timePasses(25 * hour);
      const fresh = (await world.tokens()).access_token;
      const deliveries = async () => (await callBy(fresh, "GET", `/${webhookId}/deliveries`)).body.deliveries;
      await eventually(t.signal, async () => assert.equal((await deliveries())[0].state, "failed"));
      const [failed] = await deliveries();
      assert.deepEqual([failed.status, failed.text], [302, "redirects are not followed"]);

      hook.behaviour.answer = () => ({ status: 200 });
      const { status, body } = await callBy(fresh, "POST", `/${webhookId}/deliveries/${failed.deliveryId}/resend`);
      assert.deepEqual([status, body.state, body.messageId], [202, "waiting", failed.messageId]);
      await eventually(t.signal, async () => assert.equal((await deliveries())[0].state, "delivered"));
      assert.deepEqual(hook.received.at(-1)?.message, hook.received[0]?.message);
    });

    it("gets what its filter and its scopes allow, until its client's access ends", { timeout: 90_000 }, async (t) => {
      const { world, token, lamp, call, callBy, hook, add } = await listening(t, database);
      const bobs = (await world.tokens(world.client, { name: "bob", password: "another word" })).access_token;
      const bobsLamp = await world.addDevice(world.bobId, "Bob's lamp");
      const enterprise = await world.addClient({ kind: "enterprise" });
      const acme = (await world.tokens(enterprise, admin)).access_token;
      const tenantHook = await receiver(t);
      const { webhookId } = await add({ deviceIds: [lamp], attributes: ["power"] });
      await callBy(acme, "POST", "", { url: tenantHook.url });
      await write(world, bobs, bobsLamp, { power: "bob's" });
      await write(world, token, lamp, { level: "1", power: "ada's" });
      await tenantHook.until(2);
      await hook.until(1);
      assert.deepEqual(hook.received[0]?.message.data.attributes, { power: "ada's" });
      assert.deepEqual(
        tenantHook.received
          .map(({ message }) => message.data.attributes)
          .sort((a, b) => Object.keys(a).length - Object.keys(b).length),
        [{ power: "bob's" }, { level: "1", power: "ada's" }],
      );

      const elsewhere = await world.addClient();
      const another = (await world.tokens(elsewhere)).access_token;
      for (const stranger of [bobs, acme, another]) {
        for (const [method, path] of [
          ["DELETE", ""],
          ["GET", "/deliveries"],
          ["POST", "/deliveries/1/resend"],
        ] as const) {
          const { status, body } = await callBy(stranger, method, `/${webhookId}${path}`);
          assert.deepEqual([status, body.error], [404, "not_found"]);
        }
      }
      assert.deepEqual((await callBy(another, "GET", "")).body.webhooks, []);
      assert.equal((await call("POST", "", { url: hook.url, deviceIds: [bobsLamp] })).status, 404);

      await world.revoke(token);
      const heard = hook.received.length;
      await write(world, another, lamp, { power: "after" });
      await tenantHook.until(3);
      await world.service.parts.events.retention.sweep();
      assert.equal(hook.received.length, heard);
      const key = { ownerId: world.userId, id: webhookId };
      const left = await world.service.parts.store.read((tx) => tx.deliveries.ofWebhook(key, 10));
      assert.deepEqual(left, []);
    });
  });
}

describe("the address of a webhook", () => {
  it("must be public and https, unless configured otherwise", { timeout: 60_000 }, async (t) => {
    const { world, token } = await home(t, {});
    const addresses = [
      "http://example.com/",
      "https://127.0.0.1/",
      "https://[::1]/",
      "https://[::ffff:10.0.0.1]/",
      "https://10.1.2.3/",
      "https://169.254.169.254/latest/meta-data",
      "https://2130706433/",
      "https://localhost/",
      "https://user:word@example.com/",
      "ftp://example.com/",
      "example.com",
      `https://example.com/${"x".repeat(2_100)}`,
    ];
    for (const url of addresses) {
      const answer = await postJson(`${world.baseUrl}/v3/webhooks`, token, { url });
      assert.deepEqual([answer.status, answer.body.error], [400, "invalid_request"], url);
    }
    for (const body of [
      {},
      [],
      { url: 7 },
      { url: "https://example.com", deviceIds: "41" },
      { url: "https://example.com", attributes: [1] },
    ]) {
      assert.equal((await postJson(`${world.baseUrl}/v3/webhooks`, token, body)).status, 400);
    }
  });
});

async function listening(t: TestContext, database: Deployment) {
  const made = await home(t, { database, environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } });
  const { world, token } = made;
  const hook = await receiver(t);
  const callBy = (by: string, method: string, path: string, body?: object): Promise<Answered> =>
    send(`${world.baseUrl}/v3/webhooks${path}`, by, method, body);
  const call = (method: string, path: string, body?: object) => callBy(token, method, path, body);
  const add = async (filter: object) => {
    const { status, body } = await call("POST", "", { url: hook.url, ...filter });
    assert.equal(status, 201, JSON.stringify(body));
    return body as { webhookId: string; secret: string };
  };
  return { ...made, hook, call, callBy, add };
}

function postJson(url: string, token: string, body: object): Promise<Answered> {
  return send(url, token, "POST", body);
}
