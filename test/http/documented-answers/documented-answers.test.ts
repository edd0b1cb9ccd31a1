import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useAccount } from "./documented-account.ts";
import { useAlerts } from "./documented-alerts.ts";
import { useAlexa, useGoogleHome } from "./documented-assistants.ts";
import { useDeviceTypes } from "./documented-device-types.ts";
import { link, unlink, useUsersAndDevices } from "./documented-devices.ts";
import { useEvents, useWebhooks } from "./documented-events.ts";
import { useKeys } from "./documented-keys.ts";
import { useLinkSessions } from "./documented-link-sessions.ts";
import { usePlatform, useTriggers } from "./documented-platform.ts";
import { useProvisioning } from "./documented-provisioning.ts";
import { callForHealth, callWithoutCredentials, getTokens, lackScopes, signInByBrowser } from "./documented-sign-in.ts";
import { documentedWorld } from "./documented-world.ts";

describe("what the service answers", () => {
  it("matches its OpenAPI document, in success and failure, and every documented answer occurs", async (t) => {
    const world = await documentedWorld(t);
    await callWithoutCredentials(world);
    await callForHealth(world, t);
    await signInByBrowser(world);
    const accessToken = await getTokens(world);
    await lackScopes(world);
    const deviceId = await link(world, accessToken);
    await useUsersAndDevices(world, accessToken, deviceId);
    const lampId = String(await world.addLamp("Porch lamp"));
    const crowdedId = await useAlerts(world, accessToken, { deviceId, lampId });
    await useProvisioning(world, accessToken, deviceId);
    await useDeviceTypes(world, accessToken);
    await useEvents(world, accessToken, { deviceId, lampId });
    await useWebhooks(world, accessToken, { deviceId, lampId });
    await useKeys(world, accessToken, lampId);
    await useLinkSessions(world, accessToken);
    await useAccount(world);
    await useGoogleHome(world);
    await useAlexa(world);
    await usePlatform(world, deviceId);
    await useTriggers(world, { deviceId, lampId, crowdedId });
    await unlink(world);
    // test/operators/documented-calls.test.ts makes those of operators.
    const isOperators = (promise: string) => /^(admin[A-Z]|(show|send)Console)/.test(promise);
    assert.deepEqual(
      world.answers.unseen().filter((promise) => !isOperators(promise)),
      [],
    );
  });

  it("to an undocumented method is a refusal that names the documented ones, with HEAD beside GET", async (t) => {
    const { operations, baseUrl } = await documentedWorld(t);
    for (const [path, documented] of Map.groupBy(operations, (operation) => operation.path)) {
      const answer = await fetch(`${baseUrl}${path.replaceAll(/[{}]/g, "")}`, { method: "PROPFIND" });
      assert.equal(answer.status, 405, path);
      const allowed = answer.headers.get("allow")?.split(", ") ?? [];
      const methods = new Set<string>(documented.map(({ method }) => method));
      const hasHead = methods.has("GET") && !path.startsWith("/zdk") && !["/v3/events", "/console/live"].includes(path);
      if (hasHead) methods.add("HEAD");
      assert.deepEqual(allowed.sort(), [...methods].sort(), path);
    }
  });
});
