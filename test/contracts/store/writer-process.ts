import { writeSync } from "node:fs";
import { openPostgres } from "../../../src/store/postgres/store.ts";
import { openLocked } from "./sqlite-harness.ts";

// Writes until it is killed: two rows in each transaction. Prints the name of each acknowledged transaction.
const [kind, address, name] = process.argv.slice(2) as [string, string, string];
const store = kind === "sqlite" ? await openLocked(address, Date.now) : await openPostgres({ url: address });

async function lane(lane: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `${name}, lane ${lane}, ${i}`;
    await store.transaction(async (tx) => {
      await tx.settings.getOrKeep(`${id} left`, "kept");
      await tx.settings.getOrKeep(`${id} right`, "kept");
    });
    writeSync(1, `${id}\n`);
  }
}

await Promise.all([0, 1, 2, 3].map(lane));
