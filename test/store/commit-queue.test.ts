import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Parameter } from "../../src/store/sql.ts";
import { CommitQueue } from "../../src/store/sqlite/commit-queue.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { uncaughtErrorsDuring } from "./uncaught-errors.ts";

/** A connection that records its statements, and fails where the test says so. */
class WatchedConnection extends Connection {
  readonly statements: string[] = [];
  failNext: string | undefined;

  override run(text: string, parameters: readonly Parameter[] = []): number {
    this.statements.push(text);
    if (text === this.failNext) {
      this.failNext = undefined;
      throw new Error(`${text} failed`);
    }
    return super.run(text, parameters);
  }

  count(text: string): number {
    return this.statements.filter((statement) => statement === text).length;
  }
}

describe("the commit queue", () => {
  let connection: WatchedConnection;
  let queue: CommitQueue;

  beforeEach(() => {
    // A group also ends after some milliseconds, which the first body may take on a busy machine.
    mock.method(performance, "now", () => 0);
    connection = new WatchedConnection(":memory:");
    connection.run("CREATE TABLE facts (name TEXT)");
    queue = new CommitQueue(connection);
  });
  afterEach(() => {
    mock.restoreAll();
    connection.close();
  });

  const add = (name: string, urgent = false) =>
    queue.add(async () => connection.run("INSERT INTO facts VALUES ($1)", [name]), { urgent });
  const facts = () => (connection.all("SELECT name FROM facts", []) as { name: string }[]).map(({ name }) => name);

  it("commits all waiting bodies together", async () => {
    await Promise.all(["a", "b", "c"].map((name) => add(name)));
    assert.equal(connection.count("COMMIT"), 1);
    assert.deepEqual(facts(), ["a", "b", "c"]);
  });

  it("answers no caller before the COMMIT", async () => {
    const committedBefore = await Promise.all(
      Array.from({ length: 5 }, () => add("x").then(() => connection.count("COMMIT"))),
    );
    assert.deepEqual(committedBefore, [1, 1, 1, 1, 1]);
  });

  it("closes the group of an urgent body at once", async () => {
    const ordinary = ["a", "b"].map((name) => add(name));
    await Promise.all([add("urgent", true), ...ordinary]);
    assert.deepEqual(facts(), ["urgent", "a", "b"]);
    assert.equal(connection.count("COMMIT"), 2);
    assert.equal(connection.statements.indexOf("COMMIT"), connection.statements.lastIndexOf("BEGIN IMMEDIATE") - 1);
  });

  it("runs a body that became urgent while it waited before the others", async () => {
    const becomingUrgent = new AbortController();
    const ordinary = ["a", "b"].map((name) => add(name));
    const hurried = queue.add(async () => connection.run("INSERT INTO facts VALUES ('hurried')"), {
      becomesUrgent: becomingUrgent.signal,
    });
    becomingUrgent.abort();
    await Promise.all([...ordinary, hurried]);
    assert.deepEqual(facts(), ["hurried", "a", "b"]);
    assert.equal(connection.count("COMMIT"), 2);
  });

  it("runs a body only once when it becomes urgent after it has run", async () => {
    const becomingUrgent = new AbortController();
    await queue.add(async () => connection.run("INSERT INTO facts VALUES ('done')"), {
      becomesUrgent: becomingUrgent.signal,
    });
    becomingUrgent.abort();
    await add("later");
    assert.deepEqual(facts(), ["done", "later"]);
  });

  it("runs a `soon` body first, in the same COMMIT as the others", async () => {
    const soon = () =>
      queue.add(async () => connection.run("INSERT INTO facts VALUES ('soon')"), {
        soon: true,
      });
    await Promise.all([add("a"), soon()]);
    assert.deepEqual(facts(), ["soon", "a"]);
    assert.equal(connection.count("COMMIT"), 1);
  });

  it("rejects one body when BEGIN fails, and continues with the rest", async () => {
    connection.failNext = "BEGIN IMMEDIATE";
    const [first, second] = await Promise.allSettled([add("a"), add("b")]);
    assert.ok(first.status === "rejected" && first.reason instanceof StoreUnavailable);
    assert.equal(second.status, "fulfilled");
    assert.deepEqual(facts(), ["b"]);
  });

  it("rejects the whole group when its COMMIT fails, and then works again", async () => {
    connection.failNext = "COMMIT";
    const outcomes = await Promise.allSettled([add("a"), add("b")]);
    for (const outcome of outcomes) {
      assert.ok(outcome.status === "rejected" && outcome.reason instanceof StoreUnavailable);
    }
    await add("c");
    assert.deepEqual(facts(), ["c"]);
  });

  it("rejects a failed body only after the COMMIT of its group: it may depend on another body's write", async () => {
    const nameIsTaken = new Error("that name is taken");
    const refuse = async () => {
      if (facts().includes("a")) throw nameIsTaken;
    };
    const [, refused] = await Promise.allSettled([add("a"), queue.add(refuse)]);
    assert.equal((refused as PromiseRejectedResult).reason, nameIsTaken);
    connection.run("DELETE FROM facts");
    connection.failNext = "COMMIT";
    const [, groundless] = await Promise.allSettled([add("a"), queue.add(refuse)]);
    assert.ok((groundless as PromiseRejectedResult).reason instanceof StoreUnavailable);
  });

  it("rejects the earlier bodies too when a failure ended their transaction, and no others", async () => {
    // As SQLite does by itself on some disk errors.
    const losing = async () => connection.run("ROLLBACK");
    const outcomes = await Promise.allSettled([add("before"), queue.add(losing), add("after")]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") assert.ok(outcome.reason instanceof StoreUnavailable);
    }
    assert.deepEqual(facts(), ["after"]);
  });

  it("reports a disk error as StoreUnavailable, and a body's own error unchanged", async () => {
    const mistake = new Error("a mistake");
    const full = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    const throwing = (error: Error) => queue.add(() => Promise.reject(error));
    const outcomes = await Promise.allSettled([throwing(mistake), throwing(full), add("a")]);
    assert.equal((outcomes[0] as PromiseRejectedResult).reason, mistake);
    assert.ok((outcomes[1] as PromiseRejectedResult).reason instanceof StoreUnavailable);
    assert.deepEqual(facts(), ["a"]);
  });

  it("is drained when all callers are answered", async () => {
    const answered: string[] = [];
    const names = Array.from({ length: 1_200 }, (_, i) => `${i}`);
    for (const name of names) void add(name).then(() => answered.push(name));
    assert.equal(queue.waiting, names.length);
    await queue.drained();
    assert.equal(queue.waiting, 0);
    assert.deepEqual(answered, names);
    // More than one group, so that the event loop runs in between.
    assert.ok(connection.count("COMMIT") > 1);
    await queue.drained();
  });

  it("goes on when the function that it calls after a COMMIT throws, and every body gets its result", async () => {
    const broken = new Error("no figures");
    queue = new CommitQueue(connection, () => {
      throw broken;
    });
    const errors = await uncaughtErrorsDuring(async () => {
      await Promise.all([add("a"), add("b")]);
      await add("c");
    });
    assert.deepEqual(facts(), ["a", "b", "c"]);
    assert.deepEqual(errors, [broken, broken]);
  });
});
