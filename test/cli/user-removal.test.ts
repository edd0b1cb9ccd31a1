import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { hashOf, keyOf, newOwnedSecret } from "../../src/identity/secrets.ts";
import { UnknownDevice } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { eventually, longSuiteOn, person, type World, world } from "../stories/world.ts";
import { rowsOfUser } from "./rows-of-user.ts";
import { runCommand } from "./run-command.ts";

/** An access token that the user granted, for the user or for the whole tenant. */
async function grantedToken({ service }: World, userId: UserId, covers: "user" | "tenant"): Promise<string> {
  const accessToken = newOwnedSecret("bwa_", userId);
  const { tenantId } = await service.parts.identity.findUser(userId);
  await service.parts.store.transaction(async (tx) => {
    const id = randomUUID();
    const nowMs = await tx.clock.nowMs();
    const expiresMs = nowMs + 3_600_000;
    await tx.grants.add({ id, tenantId, userId, clientId: "bwc_1", covers });
    await tx.accessTokens.add(keyOf(accessToken), id, expiresMs);
    const refresh = { grantId: id, parentHash: null, issuedMs: nowMs, expiresMs };
    await tx.refreshTokens.add({ ...keyOf(newOwnedSecret("bwr_", userId)), ...refresh });
    const code = { redirectUri: "https://a.example/", isRedirectUriSent: false, challenge: null, expiresMs };
    await tx.codes.add({ hash: hashOf(newOwnedSecret("", userId)), clientId: "bwc_1", userId, ...code });
  });
  return accessToken;
}

function alertOn(deviceId: DeviceId) {
  const condition = { operation: "equals", threshold: "", stringThreshold: "off" };
  const manner = { autoDisarm: false, autoDelete: false, autoDisable: false };
  return {
    deviceId,
    attributeName: "power",
    ...condition,
    action: "email",
    address: "",
    message: "",
    targets: [],
    ...manner,
  };
}

/** Adds a receipt of a fan request, webhooks of the user and of the tenant, and a waiting message for each. */
async function addReceiptAndWebhooks({ service }: World, userId: UserId, deviceId: DeviceId): Promise<void> {
  const { tenantId } = await service.parts.identity.findUser(userId);
  await service.parts.store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const settled = { state: "rejected", text: null, requestedMs: nowMs, settledMs: nowMs } as const;
    await tx.fanRequests.add({ userId, deviceId, attribute: 12, thermostatId: "t", value: "true", ...settled });
    await tx.idempotencyKeys.add({ ownerId: userId, hash: "k" }, { isSealed: false, text: "{}" }, 60_000);
    const from = await tx.log.end();
    for (const [id, whose] of [["wh_own", userId] as const, ["wh_tenant", null] as const]) {
      const webhook = {
        url: "http://127.0.0.1:9/",
        sealedUrl: null,
        sealedSecret: "…",
        deviceIds: [],
        attributes: [],
        from,
      };
      const { ownerId } = await tx.webhooks.add({ id, tenantId, userId: whose, clientId: "bwc_1", ...webhook });
      const message = { messageId: `msg_${id}`, type: "device", body: "{}" };
      await tx.deliveries.add({ ownerId, webhookId: id, userId, deviceId, ...message });
    }
  });
}

/** Runs the command in a child process on the store of the world. */
function command({ config, simulator }: World, args: readonly string[], ecosystem = "nest") {
  const environment = {
    BREEZEWAY_DATA: config.dataFolder,
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ [ecosystem]: { protocol: "nest", apiUrl: simulator.url } }),
    BREEZEWAY_PASSWORD: "battery staple",
    ...(config.databaseUrl && { BREEZEWAY_DATABASE_URL: config.databaseUrl }),
  };
  return runCommand([...args, "--json"], { environment });
}

for (const database of longSuiteOn("sqlite")) {
  describe(`a user who is removed by command, on ${database}`, () => {
    it("leaves no row, no stream, no token and no access; the audit log alone keeps their id", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 1 }] });
      const { service, userId, client, simulator } = story;
      const deviceId = await story.link();
      await eventually(t.signal, async () => assert.equal((await client.device(deviceId)).presenceInfo, "1"));
      const { commit, devices } = service.parts;
      const lampId = await story.addLamp("Hall lamp");
      const changes = [{ key: "power", value: "on" }];
      await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId: lampId, changes }] });
      const lampState = () => devices.state({ kind: "user", userId }, lampId);
      assert.equal((await lampState()).attributes.get("power")?.value, "on");
      const { alerts, store } = service.parts;
      await alerts.add({ kind: "user", userId }, { ...alertOn(lampId), isEnabled: true });
      await addReceiptAndWebhooks(story, userId, lampId);
      const tokens = [await grantedToken(story, userId, "user"), await grantedToken(story, userId, "tenant")];
      for (const token of tokens) await service.parts.oauth.verify(token);
      const [link] = await store.read((tx) => tx.links.ofUser(userId));
      const before = await rowsOfUser(story.config, userId);
      const more = ["triggers", "commands", "webhooks", "webhook_deliveries", "idempotency_keys"];
      for (const table of [
        "users",
        "devices",
        "attributes",
        "links",
        "log",
        "sec_tokens",
        "grants",
        "codes",
        ...more,
      ]) {
        assert.ok(before[table]! > 0, `${table} ${JSON.stringify(before)}`);
      }

      const { code, stdout, stderr } = await command(story, ["user", "remove", "--user", String(userId)]);
      assert.equal(code, 0, stderr);
      const { removed, tokensRevoked } = JSON.parse(stdout);
      assert.deepEqual([removed.links, removed.devices, removed.grants, tokensRevoked], [1, 2, 2, 1]);
      assert.deepEqual([removed.alerts, removed.webhooks], [1, 1]);
      assert.ok(removed.attributes > 10 && removed.history >= 3, stdout);

      assert.deepEqual(Object.keys(await rowsOfUser(story.config, userId)), ["audit"]);
      assert.equal(
        (await fetch(simulator.url, { headers: { authorization: `Bearer ${story.accountToken}` } })).status,
        401,
      );
      // A command over the control socket takes effect at once, one from another process within a second.
      const isOver = async () => {
        for (const token of tokens) await assert.rejects(service.parts.oauth.verify(token));
        assert.equal(service.parts.federation.keeper.followed, 0);
      };
      await (database === "sqlite" ? isOver() : eventually(t.signal, isOver));
      await assert.rejects(lampState(), UnknownDevice);
      const refused = await client.call("getDeviceList", { secToken: client.secToken });
      assert.equal(refused.requestFault.errorCode, "106");
      const again = await command(story, ["user", "remove", "--user", String(userId)]);
      assert.equal(again.code, 5);
      assert.match(again.stderr, /breezeway user list/);

      await service.stop();
      if (database === "sqlite") {
        for (const name of readdirSync(story.config.dataFolder)) {
          const bytes = readFileSync(join(story.config.dataFolder, name));
          for (const text of [story.accountToken, link!.sealedToken, ...tokens, "Hall lamp"]) {
            assert.ok(!bytes.includes(text), name);
          }
        }
      }
    });

    it("is removed although the ecosystem does not answer, and the output says so", async (t) => {
      const story = await world(t, { database });
      await story.link();
      await story.simulator.stop();
      const { code, stdout, stderr } = await command(story, ["user", "remove", "--user", String(story.userId)]);
      assert.equal(code, 0, stderr);
      const { removed, tokensRevoked } = JSON.parse(stdout);
      assert.deepEqual([removed.links, tokensRevoked], [1, 0]);
      assert.deepEqual(Object.keys(await rowsOfUser(story.config, story.userId)), ["audit"]);
    });

    it("is removed although the ecosystem is no longer configured, and no service runs", async (t) => {
      const story = await world(t, { database });
      await story.link();
      await story.service.stop();
      const { code, stdout, stderr } = await command(story, ["user", "remove", "--user", String(story.userId)], "hive");
      assert.equal(code, 0, stderr);
      assert.deepEqual([JSON.parse(stdout).removed.links, JSON.parse(stdout).tokensRevoked], [1, 0]);
      assert.deepEqual(Object.keys(await rowsOfUser(story.config, story.userId)), ["audit"]);
    });

    it("leaves the data of other users alone", async (t) => {
      const story = await world(t, { database });
      const { service } = story;
      const grace = { tenant: "Story", name: "grace", password: person.password, isAdmin: false };
      const graceId = await service.parts.identity.addUser(grace);
      const lamp = { user: String(graceId), name: "Lamp", type: "Lamp" };
      const { deviceId } = (await service.parts.administration.run("device add", lamp)) as { deviceId: DeviceId };
      const token = await grantedToken(story, graceId, "user");
      const before = await rowsOfUser(story.config, graceId);
      assert.equal((await command(story, ["user", "remove", "--user", String(story.userId)])).code, 0);
      assert.deepEqual(await rowsOfUser(story.config, graceId), before);
      assert.equal((await service.parts.store.read((tx) => tx.devices.find(graceId, deviceId)))?.name, "Lamp");
      await service.parts.oauth.verify(token);
    });
  });

  describe(`a user with a new password by command, on ${database}`, () => {
    it("is signed out everywhere, and signs in with the new one", async (t) => {
      const story = await world(t, { database });
      const { service, userId, client } = story;
      const token = await grantedToken(story, userId, "tenant");
      await service.parts.oauth.verify(token);
      const { code, stdout, stderr } = await command(story, ["user", "set-password", "--user", String(userId)]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), { userId, grants: 1 });
      const isOver = () => assert.rejects(service.parts.oauth.verify(token));
      await (database === "sqlite" ? isOver() : eventually(t.signal, isOver));
      const out = await client.call("getDeviceList", { secToken: client.secToken });
      assert.equal(out.requestFault.errorCode, "106");
      const { tenantId } = await service.parts.identity.findUser(userId);
      await client.login(person.name, "battery staple", tenantId);
      assert.match(client.secToken, /^bws_/);
    });
  });
}
