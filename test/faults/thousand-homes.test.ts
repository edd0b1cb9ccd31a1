import { describe, it } from "node:test";
import { databases } from "../set-up/deployment.ts";
import { changeThousandHomes } from "../stories/thousand-homes.ts";

const homes = Number(process.env.HOMES ?? 1_000);

for (const database of databases) {
  describe(`${homes} homes that change at once on ${database} (HOMES=n chooses another number)`, () => {
    for (const assistant of ["google", "alexa"] as const) {
      it(`are all told to ${assistant}, and smoke of another home goes first`, { timeout: 1_800_000 }, (t) =>
        changeThousandHomes(t, { database, assistant, homes, emergencies: 30 }),
      );
    }
  });
}
