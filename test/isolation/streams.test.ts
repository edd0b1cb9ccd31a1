import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { admin } from "../oauth/oauth-world.ts";
import { surfaceDatabases } from "../set-up/deployment.ts";
import { ownersHome } from "./home.ts";

for (const database of surfaceDatabases) {
  describe(`a stream of events from the very beginning, on ${database}`, () => {
    it("sends another user the events of their own home and of no other", { timeout: 120_000 }, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const elsewhere = await world.addClient({ kind: "enterprise", tenant: "Other" });
      const grant = { grant_type: "client_credentials", client_id: elsewhere.id, client_secret: elsewhere.secret };
      const bob = { name: "bob", password: "another word" };
      const strangers = [
        [world.bobId, (await world.tokens(world.client, bob)).access_token],
        [world.strangerId, (await world.post("/oauth2/access_token", grant)).body.access_token as string],
      ] as const;
      for (const [userId, token] of strangers) {
        const seen = await seenUntil(world.baseUrl, token, async () =>
          String(await world.addDevice(userId, "Lamp that was added last")),
        );
        const shown = home.marks().filter((mark) => seen.includes(mark));
        assert.deepEqual(shown, []);
      }
    });

    it("sends the owner and their tenant's enterprise client all of it", { timeout: 120_000 }, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const enterprise = await world.addClient({ kind: "enterprise" });
      const tokens = [home.tokens().access_token, (await world.tokens(enterprise, admin)).access_token];
      for (const token of tokens) {
        await seenUntil(world.baseUrl, token, async () => "amber-of-Ottoline");
        await seenUntil(world.baseUrl, token, async () => home.things().commandId);
      }
    });
  });
}

/** Everything that a stream has sent until it sends the event that `happen` causes. */
async function seenUntil(baseUrl: string, token: string, happen: () => Promise<string>) {
  const answer = await fetch(`${baseUrl}/v3/events?lastEventId=0-0&things=true`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 200);
  const last = await happen();
  let seen = "";
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    seen += piece;
    assert.doesNotMatch(seen, /event: resync/);
    if (seen.includes(last)) return seen;
  }
  return assert.fail(`the stream ended: ${seen}`);
}
