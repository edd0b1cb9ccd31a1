import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { InvalidLogin } from "../../src/model/errors.ts";
import { databaseFor } from "../set-up/deployment.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { eventually } from "../stories/world.ts";
import { operatorWorld, password } from "./operator-world.ts";

/** A service on PostgreSQL with the owner ada and the viewer vera, and a connection of the test's own. */
async function made(t: TestContext) {
  const connectionString = (await databaseFor("postgres"))!;
  const world = await operatorWorld(t, connectionString);
  await world.owner();
  await world.invited("vera", { role: "viewer" });
  const { operators } = world.service.parts;
  const held = new pg.Client({ connectionString });
  await held.connect();
  t.after(() => held.end());
  const signIn = () => operators.signIn({ name: "vera", password, source: "192.0.2.1", userAgent: "Browser" });
  /** Resolves when a transaction of the service waits for the held one. */
  const waits = () =>
    eventually(t.signal, async () => {
      const { rows } = await held.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      assert.ok(rows.length > 0);
    });
  const sessions = async () =>
    (
      await held.query(
        "SELECT 1 FROM operator_sessions s JOIN operators o ON o.id = s.operator_id WHERE o.name = 'vera'",
      )
    ).rows.length;
  return { operators, held, signIn, waits, sessions };
}

describe("an operator's sign-in on PostgreSQL", { skip: missingPostgres() ?? false, timeout: 60_000 }, () => {
  it("is refused when a suspension commits while it runs", async (t) => {
    const { held, signIn, waits, sessions } = await made(t);
    const before = await sessions();
    await held.query("BEGIN");
    await held.query("LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE");
    await held.query("UPDATE operators SET is_suspended = 1 WHERE name = 'vera'");
    const signedIn = assert.rejects(signIn(), InvalidLogin);
    await waits();
    await held.query("COMMIT");
    await signedIn;
    assert.equal(await sessions(), before);
  });

  it("is refused when a claim link sets another password while it runs", async (t) => {
    const { held, signIn, waits, sessions } = await made(t);
    const before = await sessions();
    await held.query("BEGIN");
    await held.query("UPDATE operators SET password_hash = 'another' WHERE name = 'vera'");
    const signedIn = assert.rejects(signIn(), InvalidLogin);
    await waits();
    await held.query("COMMIT");
    await signedIn;
    assert.equal(await sessions(), before);
  });

  it("that came first ends with the suspension", async (t) => {
    const { operators, held, waits, sessions } = await made(t);
    const { operatorId } = await operators.find("vera");
    await held.query("BEGIN");
    await held.query("LOCK TABLE operators IN ROW EXCLUSIVE MODE");
    await held.query("SELECT id FROM operators WHERE id = $1 FOR UPDATE", [operatorId]);
    const suspended = operators.suspend(operatorId);
    await waits();
    await held.query(
      `INSERT INTO operator_sessions (hash, id, operator_id, created_ms, used_ms, password_ms, address, user_agent, expires_ms)
       SELECT 'late', 'late', operator_id, created_ms, used_ms, password_ms, address, user_agent, expires_ms
       FROM operator_sessions WHERE operator_id = $1 LIMIT 1`,
      [operatorId],
    );
    await held.query("UPDATE operators SET signed_in_ms = 1 WHERE id = $1", [operatorId]);
    await held.query("COMMIT");
    await suspended;
    assert.equal(await sessions(), 0);
  });
});
