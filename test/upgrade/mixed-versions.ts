import assert from "node:assert/strict";
import { send } from "../events/made-home.ts";
import { person } from "../stories/world.ts";
import type { KeptHome } from "./kept-home.ts";
import { type FilledHome, type OlderHome, platformAt, put, signIn } from "./older-home.ts";

/** The addresses of a node of the older version and of one of this version, on the same store. */
export type TwoVersions = readonly [older: string, upgraded: string];

/** A stream resumes at one version with an id of the other: without a gap, or with `resync`. */
export async function assertIdsAreTaken(home: KeptHome, versions: TwoVersions): Promise<void> {
  for (const [from, to] of bothDirections(versions)) {
    const stream = await home.resume(from);
    await home.switchLamp(from);
    await home.untilReceived(stream, home.powers.length - 1);
    const { lastEventId } = stream;
    stream.close();
    await home.switchLamp(from);
    const resumed = await home.resume(to, lastEventId);
    await resumed.until(1);
    const isAnew = resumed.events[0]!.name === "resync";
    await home.switchLamp(from);
    await home.untilReceived(resumed, home.powers.length - (isAnew ? 1 : 2));
    resumed.close();
  }
}

/** A sign-in that began at one version is completed at the other, and its tokens work at both. */
export async function assertSignInsAreShared(
  home: KeptHome,
  olderHome: OlderHome,
  versions: TwoVersions,
): Promise<void> {
  for (const [from, to] of bothDirections(versions)) {
    let turn = 0;
    const { access_token, refresh_token } = await signIn(() => (turn++ % 2 === 0 ? from : to), olderHome.userClient);
    const refreshed = await home.refresh(from, refresh_token);
    const again = await home.refresh(to, refreshed.refresh_token);
    for (const url of versions) {
      for (const token of [access_token, refreshed.access_token, again.access_token]) {
        await home.assertTokensWork(url, token);
      }
    }
    const platform = platformAt(from, "");
    await platform.login(person.name, person.password, olderHome.tenantId);
    const shown = await platformAt(to, platform.secToken).device(olderHome.lamp);
    assert.equal(shown.attributes.get("power")?.value, home.powers.at(-1));
  }
}

/** A token that is revoked at a node of one version is refused at the other. */
export async function assertRevocationsAreShared(
  home: KeptHome,
  olderHome: OlderHome,
  versions: TwoVersions,
): Promise<void> {
  for (const [from, to] of bothDirections(versions)) {
    const { access_token: token } = await signIn(() => from, olderHome.userClient);
    await home.assertTokensWork(to, token);
    const body = new URLSearchParams({ token, ...olderHome.userClient });
    assert.equal((await fetch(`${from}/oauth2/revoke_token`, { method: "POST", body })).status, 200);
    await home.eventually(async () => assert.equal((await send(`${to}/v3/users`, token, "GET")).status, 401));
  }
}

/** Names that an older node adds count for the limit, also when older nodes do not count. */
export async function assertGrowthIsSeen(
  olderHome: OlderHome,
  filled: FilledHome,
  [older, upgraded]: TwoVersions,
): Promise<void> {
  const token = filled.tokens.access_token;
  const names = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`thing${from + i}`, "here"]));
  assert.equal((await put(upgraded, token, olderHome.basket, names(0, 990))).status, 200);
  assert.equal((await put(older, token, olderHome.basket, names(990, 1_000))).status, 200);
  const refused = await put(upgraded, token, olderHome.basket, names(1_000, 1_001));
  assert.deepEqual([refused.status, refused.body.error], [409, "limit_reached"]);
  assert.equal((await put(upgraded, token, olderHome.basket, { thing1: "moved" })).status, 200);
}

/**
 * Commands to things that a node of this version accepts are carried out by nodes of this version, or not at all. Older
 * nodes, which own some of the links, send none of them, and no fan moves.
 */
export async function assertCommandsMoveNoFan(
  home: KeptHome,
  { simulator }: OlderHome,
  { enterpriseToken }: FilledHome,
  { at: upgraded, olderSends }: { readonly at: string; readonly olderSends: boolean },
): Promise<void> {
  const from = simulator.log().at(-1)!.sequence;
  const { body: listed } = await send(`${upgraded}/v3/things?kind=thermostat`, enterpriseToken, "GET");
  assert.ok(listed.things.length > 0);
  const receipts: string[] = [];
  for (const { thingId, traits } of listed.things) {
    const mode = traits.thermostat.state.mode.value === "off" ? "heat" : "off";
    const command = { trait: "thermostat", command: "setMode", params: { mode } };
    const { status, body } = await send(`${upgraded}/v3/things/${thingId}/commands`, enterpriseToken, "POST", command);
    assert.equal(status, 202, JSON.stringify(body));
    receipts.push(`${upgraded}/v3/things/${thingId}/commands/${body.commandId}`);
  }
  let unsent = 0;
  for (const url of receipts) {
    await home.eventually(async () => {
      const { body } = await send(url, enterpriseToken, "GET");
      const wasNotSent = body.state === "expired" && body.error.code === "notSent";
      assert.ok(body.state === "confirmed" || wasNotSent, JSON.stringify(body));
      if (wasNotSent) unsent += 1;
    });
  }
  // The commands went to all links, and some of these belong to older nodes, which do not know commands.
  if (!olderSends) assert.ok(unsent > 0, "no command met an older node");
  const sent = simulator.log(from).filter(({ kind }) => kind === "command");
  assert.ok(
    sent.length > 0 && sent.length <= receipts.length,
    `${sent.length} of ${receipts.length} commands were sent`,
  );
  for (const { body } of sent) assert.deepEqual(Object.keys(JSON.parse(String(body))), ["hvac_mode"]);
}

function bothDirections([older, upgraded]: TwoVersions): readonly (readonly [from: string, to: string])[] {
  return [
    [older, upgraded],
    [upgraded, older],
  ];
}
