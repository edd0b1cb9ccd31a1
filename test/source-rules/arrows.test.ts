import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { arrowRules } from "../../biome/arrows.ts";

const root = new URL("../..", import.meta.url).pathname;

/** One wrong line of each forbidden kind: the room it stands in, and what it must not do there. */
const wrongLines: readonly (readonly [room: string, line: string])[] = [
  ["src/model", `import "../store/seam.ts";`],
  ["src/model", `import "../devices/commit.ts";`],
  ["src/model", `import "node:fs";`],
  ["src/store", `import "../devices/commit.ts";`],
  ["src/store/tables", `import "../../identity/users.ts";`],
  ["src/home", `import "../virtual-device/mirror.ts";`],
  ["src/home", `import "../ecosystems/connector.ts";`],
  ["src/virtual-device", `import "../ecosystems/connector.ts";`],
  ["src/ecosystems", `import "../store/seam.ts";`],
  ["src/ecosystems", `import "../config/config.ts";`],
  ["src/ecosystems/nest", `import "../../federation/lane.ts";`],
  ["src/nodes", `import "../devices/commit.ts";`],
  ["src/identity", `import "../oauth/token.ts";`],
  ["src/oauth", `import "../federation/lane.ts";`],
  ["src/devices", `import "../federation/lane.ts";`],
  ["src/devices", `import "../ecosystems/connector.ts";`],
  ["src/federation", `import "../alerts/triggers.ts";`],
  ["src/alerts", `import "../federation/lane.ts";`],
  ["src/events", `import "../alerts/triggers.ts";`],
  ["src/metrics", `import "../federation/lane.ts";`],
  ["src/idempotency", `import "../http/server.ts";`],
  ["src/outlets/v3", `import "../platform/calls.ts";`],
  ["src/outlets/platform", `import "../v3/cursor.ts";`],
  ["src/http", `import "../store/seam.ts";`],
  ["src/outlets/adaptor", `import "../../ecosystems/connector.ts";`],
  ["src/http", `import "../outlets/route-table.ts";`],
  ["src/http/answer", `import "../../federation/lane.ts";`],
  ["src/outlets", `import "../store/seam.ts";`],
  ["src/outlets/platform", `import "../../store/seam.ts";`],
  ["src/web", `import "../http/server.ts";`],
  ["src/runtime", `import "../store/seam.ts";`],
  ["src/config", `import "../store/seam.ts";`],
  ["src/cli", `import "../store/seam.ts";`],
  ["src/cli/nouns", `import "../../outlets/route-table.ts";`],
  ["verify", `import "../src/model/errors.ts";`],
  ["verify", `import "../sdk/src/index.ts";`],
  ["verify/rows", `import "../../src/http/server.ts";`],
  ["verify", `import "../simulator/simulator.ts";`],
  ["src/devices", `import "../service/service.ts";`],
  ["src/federation", `import "../config/config.ts";`],
  ["src/http", `import "../../simulator/simulator.ts";`],
  ["src/devices", `import "../main.ts";`],
  ["src/devices", `import "../runtime/process/version.ts";`],
  ["simulator", `import "../src/model/errors.ts";`],
  ["sdk/src", `import "../../src/model/errors.ts";`],
  ["sdk/src", `import "node:fs";`],
  ["test/simulate/checks/checker.ts", `import "../../../src/model/errors.ts";`],
  ["src/model", "export const now = Date.now();"],
  ["src/devices", "export const now = new Date();"],
  ["src/nodes", "export const now = Date();"],
  ["src/service", `import "../../test/run.ts";`],
  ["demo", `import "../test/run.ts";`],
  ["src/federation", "setTimeout(() => undefined, 1);"],
  ["src/federation", `export const answer = fetch("http://127.0.0.1");`],
  ["src/nodes", "export const chance = Math.random();"],
  ["src/alerts", "export const now = performance.now();"],
  ["src/federation", `import "node:net";`],
  ["src/devices", `import "pg";`],
];

describe("the arrows between folders", () => {
  it("are written to arrows.json as arrows.ts has them (npm run format writes it)", () => {
    const written = JSON.parse(readFileSync(join(root, "biome/arrows.json"), "utf8"));
    assert.deepEqual(written, { overrides: arrowRules() });
  });

  const folder = mkdtempSync(join(tmpdir(), "breezeway-arrows-"));
  after(() => rmSync(folder, { recursive: true }));

  it("let no wrong line pass, of any forbidden kind", () => {
    for (const name of ["biome.json", "biome", ".gitignore", "package.json"]) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    const files = wrongLines.map(([room, line], i) => {
      const file = room.endsWith(".ts") ? room : `${room}/planted-${i}.ts`;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${line}\n`);
      return file;
    });
    mkdirSync(join(folder, "src/devices"), { recursive: true });
    writeFileSync(
      join(folder, "src/devices/right.ts"),
      `import "../model/errors.ts";\nexport const then = new Date(1);\n`,
    );

    const biome = join(root, "node_modules/.bin/biome");
    const { stdout } = spawnSync(biome, ["lint", "--reporter=json", "--max-diagnostics=none", "."], {
      cwd: folder,
      encoding: "utf8",
    });
    const found = new Set<string>();
    for (const { category, location } of JSON.parse(stdout).diagnostics) {
      const path = typeof location?.path === "string" ? location.path : location?.path?.file;
      if (/noRestrictedImports|noRestrictedGlobals|plugin/.test(category ?? "plugin"))
        found.add(path.replace(/^\.\//, ""));
    }
    const missed = files.filter((file) => !found.has(file)).map((file) => wrongLines[files.indexOf(file)]);
    assert.deepEqual(missed, []);
    assert.ok(!found.has("src/devices/right.ts"), "an arrow that is allowed was refused");
  });
});
