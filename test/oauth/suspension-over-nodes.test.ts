import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { EventStream } from "../events/event-stream.ts";
import { home, write } from "../events/made-home.ts";
import { missingPostgres } from "../set-up/postgres.ts";

describe("a resumed user on PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("keeps new streams while a transaction from before the suspension is open", { timeout: 60_000 }, async (t) => {
    const { world, token, lamp } = await home(t, { database: "postgres" });
    const other = await world.secondNode();
    const held = new pg.Client({ connectionString: world.databaseUrl });
    await held.connect();
    try {
      await held.query("BEGIN");
      await held.query("SELECT pg_current_xact_id()");
      const { identity } = world.service.parts;
      const before = await EventStream.open(other.baseUrl, token);
      await identity.suspendUser(world.userId);
      await before.ended;
      await identity.resumeUser(world.userId);
      const stream = await EventStream.open(world.baseUrl, token);

      // The end of a stream by a revocation of another node shows that the suspension was read again.
      const { access_token } = await world.tokens(undefined, { name: "bob", password: "another word" });
      const ofBob = await EventStream.open(world.baseUrl, access_token);
      const client = (await other.parts.oauth.findClient(world.client.id))!;
      await other.parts.oauth.tokens.revoke(client, access_token, "192.0.2.1");
      await ofBob.ended;

      await held.query("ROLLBACK");
      await write(world, token, lamp, { on: "true" });
      const ended = stream.ended.then(() => assert.fail("the stream has ended"));
      const [event] = await Promise.race([stream.until(1, ({ name }) => name === "attribute"), ended]);
      assert.equal(event?.data.value, "true");
      ended.catch(() => undefined);
      stream.close();
    } finally {
      await held.end();
    }
  });
});
