import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Account } from "../../simulator/google-device-access/account.ts";
import type { Google } from "../../simulator/google-device-access/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { startedGoogle, writeKey } from "../ecosystems/google-device-access/harness.ts";
import { controlScope, ThingClient } from "./thing-client.ts";
import { clientOfUser } from "./v3-client.ts";
import { eventually, person, type World, type WorldPlan, world } from "./world.ts";

interface LinkedAccount {
  readonly story: World;
  readonly google: Google;
  readonly account: Account;
  readonly client: ThingClient;
  readonly hall: { readonly name: string };
  readonly hallId: string;
  readonly atticId: string;
  readonly deviceId: DeviceId;
  attributes(): Promise<Record<string, unknown>>;
}

/** The connector keeps Google's limits of calls a minute: the service's minute takes two seconds. */
export const clockSpeed = 30;
export async function linkedAccount(
  t: TestContext,
  plan: WorldPlan = {},
  { nowMs = Date.now, tokenSeconds = 3_599 } = {},
): Promise<LinkedAccount> {
  const google = await startedGoogle(t, { nowMs });
  google.tokens.lifetimeSeconds = tokenSeconds;
  const account = google.addAccount("Ada");
  const furtherEcosystems = { google: google.settings(await writeKey(t, google)) };
  const story = await world(t, { clockSpeed, furtherEcosystems, ...plan });
  const { accessToken, refreshToken } = google.tokens.consent(account);
  const credential = { accessToken, refreshToken, expiresMs: story.nowMs() + tokenSeconds * 1_000 };
  const deviceId = await story.service.parts.federation.link(story.userId, "google", credential);
  const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, controlScope));
  await eventually(t.signal, async () => {
    assert.equal((await story.client.linkStatus("google")).state, "live");
  });
  const things = await client.ofKind("thermostat");
  const named = (name: string) => things.find((thing: { name: string }) => thing.name === name).thingId;
  return {
    story,
    google,
    account,
    client,
    hall: [...account.devices.values()].find(({ parentRelations: [parent] }) => parent?.displayName === "Hall")!,
    hallId: named("Hall"),
    atticId: named("Attic heater"),
    deviceId,
    attributes: async () => {
      const shown = await client.v3.attributes(deviceId);
      return Object.fromEntries(Object.entries<{ value: unknown }>(shown).map(([name, { value }]) => [name, value]));
    },
  };
}
