import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { folderOf } from "../cli/made-folder.ts";
import { breezeway, cleanEnvironment } from "../stories/child-service.ts";
import { atTerminal, skip } from "./terminal.ts";

const launcher = new URL("../../bin/breezeway", import.meta.url).pathname;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours are made of
const colour = /\u001b\[3\dm/;

describe("what a command prints", () => {
  it("is a table in colour at a terminal, without colour where that isn't wanted", { skip }, async (t) => {
    const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: "0" };
    const { shown } = await atTerminal(t, "doctor", environment).ended;
    assert.match(shown, colour);
    for (const plain of [{ NO_COLOR: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      const { shown: told } = await atTerminal(t, "doctor", { ...environment, ...plain }).ended;
      assert.doesNotMatch(told, colour, JSON.stringify(plain));
      assert.match(told, /^.*ok {4}data folder {3}/m);
    }
  });

  it("is JSON in a pipe, with nothing beside it and no word of progress", async (t) => {
    const folder = folderOf(t);
    const { code, stdout, stderr } = await breezeway(["tenant", "add", "--name", "Acme", "--data", folder]);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { tenantId: 1, name: "Acme" }]);
    assert.equal(stderr, `Making a new store in ${folder}.\n`);
  });

  it("may be read in part or not at all, without noise", async () => {
    const read = async (by: string) => {
      const line = `set -o pipefail; "${process.execPath}" "${launcher}" --help | ${by}`;
      return promisify(execFile)("bash", ["-c", line], { env: cleanEnvironment() });
    };
    assert.deepEqual(await read("head -n 1"), { stdout: "Usage: breezeway [options] [command]\n", stderr: "" });
    assert.deepEqual(await read("true"), { stdout: "", stderr: "" });
  });
});
