import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storedRows } from "./bar/stored.ts";
import { ada, type OAuthWorld, oauthWorld } from "./oauth-world.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

async function actsOf({ service }: OAuthWorld, wanted: string): Promise<number> {
  const entries = await service.parts.identity.audit.list({ limit: 100 });
  return entries.filter(({ act }) => act === wanted).length;
}

describe("the sweep", () => {
  it("keeps a redeemed code for a day after its end, so that its replay ends the grant", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const { tokens } = world.service.parts.oauth;
    const [early, late] = [await world.code(), await world.code()];
    const [ofEarly, ofLate] = [await world.exchange(early), await world.exchange(late)];
    await world.timePasses(minuteMs + dayMs);
    await tokens.sweep();
    assert.equal((await world.exchange(early)).body.error, "invalid_grant");
    assert.equal(await actsOf(world, "code_replay"), 1);
    assert.equal((await world.refresh(ofEarly.body.refresh_token)).body.error, "invalid_grant", "its grant has ended");
    await world.timePasses(1);
    await tokens.sweep();
    assert.equal((await world.exchange(late)).body.error, "invalid_grant");
    assert.equal(await actsOf(world, "code_replay"), 1, "the code is not known any more");
    assert.equal((await world.refresh(ofLate.body.refresh_token)).status, 200);
  });

  it("keeps a retired refresh token for 30 days, so that its reuse ends the grant", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const { tokens } = world.service.parts.oauth;
    const chain = async () => {
      const first: string = (await world.tokens()).refresh_token;
      const second: string = (await world.refresh(first)).body.refresh_token;
      return { first, last: (await world.refresh(second)).body.refresh_token as string };
    };
    const [early, late] = [await chain(), await chain()];
    await world.timePasses(minuteMs + 30 * dayMs);
    await tokens.sweep();
    assert.equal((await world.refresh(early.first)).body.error, "invalid_grant");
    assert.equal(await actsOf(world, "refresh_reuse"), 1);
    assert.equal((await world.refresh(early.last)).body.error, "invalid_grant", "its grant has ended");
    await world.timePasses(1);
    await tokens.sweep();
    assert.equal((await world.refresh(late.first)).body.error, "invalid_grant");
    assert.equal(await actsOf(world, "refresh_reuse"), 1, "the token is not known any more");
    assert.equal((await world.refresh(late.last)).status, 200);
  });

  it("removes sign-ins that were not decided in time, and no others", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const { tokens } = world.service.parts.oauth;
    const signIns = async () => (await storedRows(world)).get("sign_ins")!.length;
    await world.browser().signIn(world.authorizeUrl(), ada);
    await world.timePasses(5 * minuteMs);
    const browser = world.browser();
    const terms = await browser.signIn(world.authorizeUrl(), ada);
    await world.timePasses(5 * minuteMs);
    await tokens.sweep();
    assert.equal(await signIns(), 2);
    await world.timePasses(1);
    await tokens.sweep();
    assert.equal(await signIns(), 1);
    assert.equal((await browser.submit(terms.form!, { decision: "accept" })).status, 302);
  });
});
