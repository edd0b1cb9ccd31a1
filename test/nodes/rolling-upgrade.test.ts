import { describe, it } from "node:test";
import { missingNginx } from "../set-up/nginx.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { upgradeUnderLoad } from "./rolling-upgrade.ts";

describe("a rolling upgrade over a migration", { skip: missingPostgres() ?? missingNginx() ?? false }, () => {
  it("fails no call and loses nothing while nodes of both versions work", { timeout: 180_000 }, (t) =>
    upgradeUnderLoad(t, { links: 12, people: 6, restMs: 200, drainSeconds: 2, rows: 20_000, withOldNode: false }),
  );
});
