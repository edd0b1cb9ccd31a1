import { describe, it } from "node:test";
import { killDuringLinkSessions } from "../link-sessions/link-kills.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 10);

describe(`link sessions, from seed ${seed} (SEED=n chooses another)`, () => {
  it(`link each account once or go on after the restart, over ${rounds} kills`, { timeout: 3_600_000 }, (t) =>
    killDuringLinkSessions(t, { seed, rounds }),
  );
});
