import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { missingNginx } from "../set-up/nginx.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { replaceUnderLoad } from "./replacing.ts";
import { upgradeUnderLoad } from "./rolling-upgrade.ts";

const links = rounds({ all: 12, few: 6 });
const people = rounds({ all: 6, few: 2 });

describe("a rolling upgrade over a migration", { skip: missingPostgres() ?? missingNginx() ?? false }, () => {
  it("fails no call and loses no write while nodes of both versions work", { timeout: 180_000 }, (t) =>
    upgradeUnderLoad(t, { links, people, restMs: 200, drainSeconds: 2, rows: 20_000, withOldNode: false }),
  );
});

describe("two nodes that are replaced one after the other", {
  skip: missingPostgres() ?? missingNginx() ?? false,
}, () => {
  it("fail no call and lose no write", { timeout: 180_000 }, (t) =>
    replaceUnderLoad(t, { links, people, restMs: 200, drainSeconds: 5, nodes: 2, times: 2 }),
  );
});
