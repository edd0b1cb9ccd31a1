import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { StoreUnavailable } from "../../../src/model/errors.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { onDatabase, onStore, type StoreHarness, type TestDatabase } from "./harness.ts";
import { type Home, keep, kept, makeHome } from "./home.ts";

export function durabilityCases(harness: StoreHarness): void {
  it("is visible to other connections at once", () =>
    onStore(harness, async (store, database) => {
      const names = Array.from({ length: 50 }, (_, i) => `fact ${i}`);
      const seen = names.map(async (name) => {
        await store.transaction(keep(name));
        return database.sql(`SELECT value FROM settings WHERE name = '${name}'`);
      });
      assert.ok((await Promise.all(seen)).every((rows) => rows.length === 1));
    }));

  it("survives a later COMMIT that fails and rejects only its own bodies", () =>
    onStore(harness, async (store, database) => {
      await database.poisonCommits();
      await store.transaction(keep("earlier"));
      // Started in one turn: PostgreSQL commits them one by one, SQLite together, unless the machine is so busy that the
      // first of them had a group of its own.
      const expected = harness.kind === "sqlite" ? [true, true, true] : [false, true, false];
      let isRejected: readonly boolean[] = [];
      for (let round = 1; round <= 20 && isRejected.join() !== expected.join(); round++) {
        const names = [`before ${round}`, "poison", `after ${round}`];
        const outcomes = await Promise.allSettled(names.map((name) => store.transaction(keep(name))));
        isRejected = outcomes.map(({ status }) => status === "rejected");
        assert.ok(isRejected[1], "the poisoned commit was accepted");
        for (const outcome of outcomes) {
          if (outcome.status === "rejected")
            assert.ok(outcome.reason instanceof StoreUnavailable, String(outcome.reason));
        }
        for (const [i, name] of names.entries()) assert.equal(await kept(store, name), !isRejected[i]);
      }
      assert.deepEqual(isRejected, expected);
      await store.transaction(keep("later"));
      assert.ok((await kept(store, "earlier")) && (await kept(store, "later")));
    }));

  it("survives a full disk: writes are refused, reads continue, and writes work again when there is space", async () => {
    const database = await harness.fresh({ onSmallDisk: true });
    try {
      const store = await database.open();
      const home = await makeHome(store);
      const acknowledged = new Map<string, string>();
      await writeUntilRefused(store, home, acknowledged, 16);
      await database.disk.fill();
      assert.ok((await writeUntilRefused(store, home, acknowledged, 4_096)) > 0, "the disk never was full");
      await checkAcknowledged(store, home, acknowledged);
      await database.disk.empty();
      assert.equal(await writeUntilRefused(store, home, acknowledged, 64), 0);
      await checkAcknowledged(store, home, acknowledged);
      await store.close();
      await checkAcknowledged(await database.open(), home, acknowledged);
    } finally {
      await database.remove();
    }
  });

  it("survives kill -9, and each transaction is complete or absent", { timeout: 60_000 }, (t) =>
    onDatabase(harness, async (database) => {
      const acknowledged: string[] = [];
      for (let round = 0; round < 5; round++) {
        const killAfter = randomInt(1, 300);
        t.diagnostic(`round ${round}: killed after ${killAfter} answers`);
        acknowledged.push(...(await writeAndKill(harness, database, `round ${round}`, killAfter)));
        const store = await database.open();
        const halves = await database.sql<{ name: string }>("SELECT name FROM settings");
        await store.close();
        const names = new Set(halves.map(({ name }) => name));
        for (const id of acknowledged) assert.ok(names.has(`${id} left`), `${id} was acknowledged and is lost`);
        for (const name of names) {
          const other = name.endsWith(" left") ? name.replace(/left$/, "right") : name.replace(/right$/, "left");
          assert.ok(names.has(other), `of one transaction only ${name} is there`);
        }
      }
      assert.ok(acknowledged.length >= 5);
    }),
  );
}

/** Writes eight at a time, so that groups form, until some are refused; returns how many. */
async function writeUntilRefused(
  store: OpenStore,
  { userId, devices }: Home,
  acknowledged: Map<string, string>,
  limit: number,
): Promise<number> {
  for (let written = 0; written < limit; written += 8) {
    const changes = Array.from({ length: 8 }, () => ({
      key: randomBytes(8).toString("hex"),
      value: randomBytes(2_048).toString("base64"),
    }));
    const outcomes = await Promise.allSettled(
      changes.map((change) => store.transaction((tx) => tx.attributes.write(userId, devices[0]!, 1, [change]))),
    );
    let refused = 0;
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") acknowledged.set(changes[i]!.key, changes[i]!.value);
      else {
        assert.ok(outcome.reason instanceof StoreUnavailable, `refused with ${outcome.reason}`);
        refused += 1;
      }
    }
    if (refused > 0) return refused;
  }
  return 0;
}

async function checkAcknowledged(store: OpenStore, home: Home, acknowledged: Map<string, string>): Promise<void> {
  const rows = await store.read((tx) => tx.attributes.all(home.userId, home.devices[0]!));
  assert.deepEqual(new Map(rows.map(({ key, value }) => [key, value])), new Map([...acknowledged].sort()));
}

/** Starts a process that writes, kills it after so many acknowledgements, and returns the acknowledged names. */
async function writeAndKill(
  harness: StoreHarness,
  database: TestDatabase,
  name: string,
  killAfter: number,
): Promise<string[]> {
  const program = fileURLToPath(new URL("./writer-process.ts", import.meta.url));
  const writer = spawn(process.execPath, [program, harness.kind, database.address, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(writer, "exit");
  const acknowledged: string[] = [];
  // Output from before the kill is still in the pipe and is read to its end.
  for await (const id of createInterface({ input: writer.stdout })) {
    acknowledged.push(id);
    if (acknowledged.length === killAfter) writer.kill("SIGKILL");
  }
  const [, signal] = await ended;
  assert.equal(signal, "SIGKILL");
  return acknowledged;
}
