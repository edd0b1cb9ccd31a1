import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { settings } from "../../src/config/config.ts";
import { folderOf } from "../cli/made-folder.ts";

const root = new URL("../..", import.meta.url).pathname;
const unit = readFileSync(join(root, "deploy/breezeway.service"), "utf8");

describe("the unit for systemd", () => {
  it("runs as a user of its own, with no right that it doesn't need", () => {
    const lines = unit.split("\n");
    for (const line of [
      "User=breezeway",
      "CapabilityBoundingSet=",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "ProtectHome=yes",
      "StateDirectoryMode=0700",
      "RestartPreventExitStatus=3",
    ]) {
      assert.ok(lines.includes(line), line);
    }
    assert.doesNotMatch(unit, /^Environment=.*(TOKEN|DATABASE_URL|PASSWORD)/m);
  });

  it("gives a node time to drain and to finish", () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
    assert.ok(seconds >= settings.drainSeconds.read(undefined) + 10);
  });

  it("has nothing in it that systemd doesn't know", (t) => {
    // Not everywhere is a systemd; where there is one, its word counts.
    if (spawnSync("systemd-analyze", ["--version"]).status !== 0) return;
    const file = join(folderOf(t), "breezeway.service");
    writeFileSync(file, unit.replaceAll("/opt/breezeway/", root));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
  });
});
