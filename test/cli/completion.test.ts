import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { typed } from "./typed.ts";

/** The completions that a real bash offers after the line. */
function offered(script: string, line: string): readonly string[] {
  const words = line.split(" ");
  const asking = `
    ${script}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=${words.length - 1}
    _breezeway
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", asking], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout.split("\n").filter((word) => word !== "");
}

describe("completion", () => {
  it("offers in bash exactly the words that can follow", async () => {
    const { code, out } = await typed(["completion", "bash"]);
    assert.equal(code, 0);
    assert.deepEqual(offered(out, "breezeway dev"), ["device", "devices", "device-type", "device-types"]);
    assert.deepEqual(offered(out, "breezeway client r"), ["rotate-secret", "resume", "remove"]);
    assert.deepEqual(offered(out, "breezeway devices get 2 --wa"), ["--watch"]);
    assert.deepEqual(offered(out, "breezeway completion "), [
      "bash",
      "zsh",
      "fish",
      "--json",
      "--data",
      "--key-file",
      "--help",
    ]);
    assert.ok(offered(out, "breezeway ").includes("serve"));
    assert.deepEqual(offered(out, "breezeway nonsense"), []);
  });

  it("is written for zsh and fish from the same commands", async () => {
    const zsh = await typed(["completion", "zsh"]);
    assert.match(zsh.out, /^#compdef breezeway\n/);
    assert.match(zsh.out, /'alert explain'\) words_here=\(/);
    const fish = await typed(["completion", "fish"]);
    assert.match(fish.out, /complete -c breezeway -n '__breezeway_at \\'event\\'' -a 'watch' -d /);
    assert.equal((await typed(["completion", "fish", "--json"])).json.shell, "fish");
  });
});
