import { describe, it } from "node:test";
import { missingNginx } from "../set-up/nginx.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { leaveUnderLoad } from "./leaving.ts";

describe("a node that is told to stop while people work", {
  skip: missingPostgres() ?? missingNginx() ?? false,
}, () => {
  it("fails no call, loses nothing, and its links are followed elsewhere", { timeout: 120_000 }, (t) =>
    leaveUnderLoad(t, { links: 30, people: 10, drainSeconds: 2, times: 1 }),
  );
});
