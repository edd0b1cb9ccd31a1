import { describe, it } from "node:test";
import { liveThroughRandomFaults } from "../nodes/random-faults.ts";

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
const faults = Number(process.env.FAULTS ?? 42);
const links = Number(process.env.LINKS ?? 60);

describe(`three nodes on PostgreSQL, from seed ${seed} (SEED=n, FAULTS=n and LINKS=n choose others)`, () => {
  it(
    `mirror all changes of ${links} homes, which come in groups, and keep their promises over ${faults} faults`,
    { timeout: 2_700_000 },
    (t) => liveThroughRandomFaults(t, { seed, faults, links }),
  );
});
