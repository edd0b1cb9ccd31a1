import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  BadParameter,
  InvalidLogin,
  LimitReached,
  NotFound,
  NotSignedIn,
  StoreUnavailable,
} from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { linkLifetime } from "../../src/operators/one-time-links.ts";
import type { Operator } from "../../src/operators/operator.ts";
import { openSession, sessionLifetime } from "../../src/operators/sessions.ts";
import { longestTokenDays } from "../../src/operators/tokens.ts";
import { password } from "../identity/made-identity.ts";

import { madeOperators, origin } from "./made-operators.ts";

const minuteMs = 60_000;

describe("the sessions of an operator", () => {
  it("end one by one, those of others look as if they did not exist", async (t) => {
    const { operators, join } = await madeOperators(t);
    const [ada, grace] = [await join("ada"), await join("grace")];
    const adaId = ada.operator.operatorId;
    const [listed] = await operators.listSessions(adaId);
    assert.deepEqual(Object.keys(listed!).toSorted(), [
      ...["address", "createdMs", "expiresMs", "id", "operatorId", "usedMs", "userAgent"],
    ]);
    assert.equal((await operators.listSessions()).length, 2);
    await assert.rejects(operators.endSession(listed!.id, grace.operator.operatorId), NotFound);
    await assert.rejects(operators.endSession("os_none"), NotFound);
    assert.equal((await operators.endSession(listed!.id, adaId)).id, listed!.id);
    await assert.rejects(operators.bySession(ada.session), NotSignedIn);
    const [other] = await operators.listSessions();
    await operators.endSession(other!.id);
    await assert.rejects(operators.bySession(grace.session), NotSignedIn);
  });

  it("are prolonged by what the operator does, not by what a page does, and written once a minute", async (t) => {
    const { operators, clock, join } = await madeOperators(t);
    const { session } = await join("ada");
    const used = async () => (await operators.listSessions())[0]!.usedMs;
    const startedMs = await used();
    clock.nowMs += sessionLifetime.renewEveryMs - 1;
    await operators.bySession(session);
    assert.equal(await used(), startedMs);
    clock.nowMs += 1;
    await operators.bySession(session, false);
    assert.equal(await used(), startedMs);
    await operators.bySession(session);
    assert.equal(await used(), clock.nowMs);
    clock.nowMs += sessionLifetime.idleMs - 1;
    await operators.bySession(session, false);
    clock.nowMs += 1;
    await assert.rejects(operators.bySession(session), NotSignedIn);
    assert.deepEqual(await operators.listSessions(), []);
    assert.equal(await operators.sweep(), 1);
  });

  it("are confirmed by the password for five minutes, or by an earlier proof for what is left of them", async (t) => {
    const { operators, store, clock, join, identity } = await madeOperators(t);
    const { session, operator } = await join("ada");
    const isConfirmed = async (secret: string) => {
      const { by } = await operators.bySession(secret, false);
      return by.kind === "session" && by.isConfirmed;
    };
    assert.equal(await isConfirmed(session), true);
    clock.nowMs += sessionLifetime.confirmedMs - 1;
    assert.equal(await isConfirmed(session), true);
    clock.nowMs += 1;
    assert.equal(await isConfirmed(session), false);
    await operators.confirm(operator, session, { password, ...origin });
    assert.equal(await isConfirmed(session), true);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([entry?.act, entry?.operator, entry?.source], ["operator_password", "ada", origin.source]);
    await assert.rejects(operators.confirm(operator, session, { password: "guess", ...origin }), InvalidLogin);
    const stranger = await join("eve");
    await assert.rejects(operators.confirm(operator, stranger.session, { password, ...origin }), NotSignedIn);
    const open = (provedMs: number) =>
      store.transaction((tx) => openSession(tx, operator.operatorId, origin, () => undefined, provedMs));
    assert.equal(await isConfirmed(await open(clock.nowMs - sessionLifetime.confirmedMs)), false);
    const fromTheFuture = await open(clock.nowMs + minuteMs);
    clock.nowMs += sessionLifetime.confirmedMs;
    assert.equal(await isConfirmed(fromTheFuture), false);
  });

  it("end when the clock is set back by more than a minute: nobody knows how old they are", async (t) => {
    const { operators, clock, join } = await madeOperators(t);
    const { session } = await join("ada");
    const isConfirmed = async () => {
      const { by } = await operators.bySession(session);
      return by.kind === "session" && by.isConfirmed;
    };
    clock.nowMs -= sessionLifetime.aheadMs;
    assert.equal(await isConfirmed(), true);
    clock.nowMs -= 1;
    await assert.rejects(operators.bySession(session), NotSignedIn);
    assert.deepEqual(await operators.listSessions(), []);
    clock.nowMs -= sessionLifetime.longestMs;
    await assert.rejects(operators.bySession(session), NotSignedIn);
  });

  it("are not confirmed by a password that was typed before the clock was set back", async (t) => {
    const { operators, clock, join, store } = await madeOperators(t);
    const { session, operator } = await join("ada");
    const [{ id } = { id: "" }] = await operators.listSessions(operator.operatorId);
    await store.transaction(async (tx) => {
      const found = await tx.operatorSessions.byId(id);
      await tx.operatorSessions.confirmed(found!.hash, clock.nowMs + sessionLifetime.aheadMs + 1);
    });
    const { by } = await operators.bySession(session);
    assert.equal(by.kind === "session" && by.isConfirmed, false);
  });

  it("are as many as the limit says: at the limit the least used one ends", async (t) => {
    const { operators, clock, join, reached } = await madeOperators(t);
    const { session: first } = await join("ada");
    const attempt = { name: "ada", password, source: origin.source, userAgent: `a\u0000b${"x".repeat(300)}` };
    for (let n = 1; n < limits.sessionsPerOperator; n++) {
      clock.nowMs += 1;
      await operators.signIn(attempt);
    }
    await operators.bySession(first);
    assert.deepEqual(reached, []);
    await operators.signIn(attempt);
    await assert.rejects(operators.bySession(first), NotSignedIn);
    assert.deepEqual(reached, ["sessionsPerOperator"]);
    const listed = await operators.listSessions();
    assert.equal(listed.length, limits.sessionsPerOperator);
    assert.equal(listed[0]!.userAgent, `a b${"x".repeat(197)}`);
  });

  it("are audited when they end by a sign-out, once", async (t) => {
    const { operators, join, identity } = await madeOperators(t);
    const { session } = await join("ada");
    await operators.signOut(session, "192.0.2.9");
    await operators.signOut(session, "192.0.2.9");
    const entries = await identity.audit.list({ limit: 10 });
    assert.deepEqual(
      entries.filter(({ act }) => act === "operator_sign_out").map(({ operator, source }) => [operator, source]),
      [["ada", "192.0.2.9"]],
    );
  });
});

describe("a failed sign-in of an operator", () => {
  it("is audited one by one up to a hundred of one address, and then every hundredth time", async (t) => {
    const { operators, join, identity, failures } = await madeOperators(t);
    await join("ada");
    const guess = async (count: number) => {
      failures.before = count;
      const attempt = { name: "ada", password: "guess", ...origin };
      await assert.rejects(operators.signIn(attempt), InvalidLogin);
      const [entry] = await identity.audit.list({ limit: 1 });
      return [entry?.act, entry?.operator, entry?.detail.failuresOfSource];
    };
    assert.deepEqual(await guess(99), ["operator_sign_in_failed", "ada", undefined]);
    const before = (await identity.audit.list({ limit: 100 })).length;
    await guess(100);
    await guess(198);
    assert.equal((await identity.audit.list({ limit: 100 })).length, before);
    assert.deepEqual(await guess(199), ["operator_sign_in_failed", "ada", 200]);
    assert.deepEqual([...new Set(failures.accounts)], ['["operator","ada"]'], "failures of one name limit no other");
  });
});

describe("the tokens of an operator", () => {
  it("are valid for their days, and listed without their secret until then", async (t) => {
    const { operators, clock, join } = await madeOperators(t);
    const { operator } = await join("ada");
    const { operatorId } = operator;
    for (const days of [0, longestTokenDays + 1, 1.5, Number.NaN]) {
      await assert.rejects(operators.addToken(operatorId, { name: "ci", days }), BadParameter, String(days));
    }
    const { secret, token } = await operators.addToken(operatorId, { name: "ci", days: 1 });
    await operators.addToken(operatorId, { name: "long", days: longestTokenDays });
    assert.deepEqual(token.expiresMs, clock.nowMs + 86_400_000);
    assert.match(secret, /^bwop_/, "secret scanners know it by its beginning");
    const listed = (await operators.listTokens(operatorId)).find(({ id }) => id === token.id);
    assert.deepEqual(listed, { ...token, usedMs: null });
    assert.deepEqual((await operators.byToken(secret)).by, { kind: "token", id: token.id });
    const usedMs = clock.nowMs;
    const lastUse = async () => (await operators.listTokens()).find(({ id }) => id === token.id)?.usedMs;
    assert.equal(await lastUse(), usedMs);
    clock.nowMs += minuteMs - 1;
    await operators.byToken(secret);
    assert.equal(await lastUse(), usedMs);
    clock.nowMs += 1;
    await operators.byToken(secret);
    assert.equal(await lastUse(), clock.nowMs);
    clock.nowMs = token.expiresMs - 1;
    await operators.byToken(secret);
    clock.nowMs += 1;
    await assert.rejects(operators.byToken(secret), NotSignedIn);
    assert.deepEqual(
      (await operators.listTokens()).map(({ name }) => name),
      ["long"],
    );
    await operators.claimLink();
    clock.nowMs += linkLifetime.claimMs;
    assert.equal(await operators.sweep(), 3, "a token, a session and a claim link");
  });

  it("are revoked one by one, and those of others look as if they did not exist", async (t) => {
    const { operators, join } = await madeOperators(t);
    const [ada, grace] = [await join("ada"), await join("grace")];
    const added = await operators.addToken(ada.operator.operatorId, { name: "ci", days: 1 });
    await assert.rejects(operators.revokeToken(added.token.id, grace.operator.operatorId), NotFound);
    await assert.rejects(operators.revokeToken("ot_none"), NotFound);
    assert.deepEqual(await operators.revokeToken(added.token.id), added.token);
    await assert.rejects(operators.byToken(added.secret), NotSignedIn);
    await assert.rejects(operators.byToken(ada.session), NotSignedIn);
    await operators.suspend(grace.operator.operatorId);
    await assert.rejects(operators.addToken(grace.operator.operatorId, { name: "ci", days: 1 }), NotFound);
  });

  it("end with the token that made them, also those of another operator", async (t) => {
    const { operators, join } = await madeOperators(t);
    const [ada, grace] = [await join("ada"), await join("grace")];
    const make = async (operator: Operator, maker?: Operator) => {
      const made = await operators.addToken(operator.operatorId, { name: "ci", days: 1, maker: maker?.by });
      return { ...made, operator: await operators.byToken(made.secret) };
    };
    const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      revoked: (id) => operators.revokeToken(id),
      suspended: () => operators.suspend(grace.operator.operatorId),
      removed: () => operators.remove(grace.operator.operatorId),
    };
    for (const [why, end] of Object.entries(ends)) {
      if (why === "removed") await operators.resume(grace.operator.operatorId);
      const bySession = await make(ada.operator, ada.operator);
      const parent = await make(grace.operator);
      const child = await make(ada.operator, parent.operator);
      const grandchild = await make(ada.operator, child.operator);
      assert.deepEqual([bySession.token.parentId, child.token.parentId], [null, parent.token.id]);
      await end(parent.token.id);
      for (const { secret } of [parent, child, grandchild])
        await assert.rejects(operators.byToken(secret), NotSignedIn, why);
      await assert.rejects(make(ada.operator, child.operator), NotSignedIn, why);
      assert.equal((await operators.byToken(bySession.secret)).name, "ada");
    }
  });

  it("made by a token end no later than it: a longer life is refused if it is asked for", async (t) => {
    const { operators, clock, join } = await madeOperators(t);
    const { operator } = await join("ada");
    const parent = await operators.addToken(operator.operatorId, { name: "ci", days: 3, maker: operator.by });
    const { by: maker } = await operators.byToken(parent.secret);
    const add = async (days?: number) =>
      (await operators.addToken(operator.operatorId, { name: "ci", days, maker })).token;
    const until = `The token that makes this one is valid until ${new Date(parent.token.expiresMs).toISOString()}.`;
    await assert.rejects(add(4), { message: `${until} Choose at most 3, or leave days out to end with it.` });
    assert.equal((await add(3)).expiresMs, parent.token.expiresMs);
    assert.equal((await add()).expiresMs, parent.token.expiresMs);
    clock.nowMs = parent.token.expiresMs - 86_400_000 + 1;
    await assert.rejects(add(1), { message: `${until} Leave days out to end with it.` });
    assert.equal((await add()).expiresMs, parent.token.expiresMs);
    clock.nowMs = parent.token.expiresMs;
    await assert.rejects(add(), NotSignedIn);
  });

  it("and sessions are valid while their last use can't be stored, unless the reason is a defect", async (t) => {
    const { operators, clock, join, connection } = await madeOperators(t);
    const { operator, session } = await join("ada");
    const { secret } = await operators.addToken(operator.operatorId, { name: "ci", days: 1 });
    clock.nowMs += minuteMs;
    connection.error = new StoreUnavailable("down");
    assert.equal((await operators.bySession(session)).name, "ada");
    assert.equal((await operators.byToken(secret)).name, "ada");
    connection.error = new Error("a defect");
    await assert.rejects(operators.bySession(session), /a defect/);
    await assert.rejects(operators.byToken(secret), /a defect/);
  });

  it("are as many as the limit says; expired ones don't count", async (t) => {
    const { operators, clock, join } = await madeOperators(t);
    const { operatorId } = (await join("ada")).operator;
    const add = (days: number) => operators.addToken(operatorId, { name: "ci", days });
    for (let n = 0; n < limits.tokensPerOperator; n++) await add(n === 0 ? 1 : 2);
    await assert.rejects(add(1), LimitReached);
    clock.nowMs += 86_400_000;
    await add(1);
  });
});
