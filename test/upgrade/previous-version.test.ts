import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { checkOutVersion, findPreviousVersion } from "./previous-version.ts";

const skip = spawnSync("git", ["--version"]).status === 0 ? false : "git is missing";

/** A checkout whose versions the test commits. */
function repository(t: TestContext) {
  const root = folderOf(t);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=ada", "-c", "user.email=ada@localhost", ...args], {
      cwd: root,
      stdio: "pipe",
    });
  const commit = (version: string, packages: object = { "node_modules/pg": { version: "1.0.0" } }) => {
    writeFileSync(join(root, "package.json"), JSON.stringify({ version }));
    writeFileSync(
      join(root, "package-lock.json"),
      JSON.stringify({ version, packages: { "": { version }, ...packages } }),
    );
    git("add", ".");
    git("commit", "--allow-empty", "--quiet", "--message", version);
  };
  git("init", "--quiet", "--initial-branch", "main");
  return { root, git, commit };
}

describe("the version before this one", { skip }, () => {
  it("is the newest tag in the history that is not this version's", (t) => {
    const { root, git, commit } = repository(t);
    for (const version of ["0.9.0", "0.10.0", "0.11.0"]) {
      commit(version);
      git("tag", `v${version}`);
    }
    assert.equal(findPreviousVersion(root), "v0.10.0");
    commit("0.12.0");
    assert.equal(findPreviousVersion(root), "v0.11.0");
    git("checkout", "--quiet", "v0.10.0");
    assert.equal(findPreviousVersion(root), "v0.9.0", "a later version is none before");
  });

  it("is the newest commit of another version if there is no tag", (t) => {
    const { root, git, commit } = repository(t);
    const head = () => git("rev-parse", "HEAD").toString();
    commit("0.1.0");
    git("commit", "--allow-empty", "--quiet", "--message", "last of 0.1.0");
    const last = head();
    commit("0.2.0");
    commit("0.2.0");
    assert.equal(git("rev-parse", findPreviousVersion(root)!).toString(), last);
    writeFileSync(join(root, "package.json"), JSON.stringify({ version: "0.3.0" }));
    assert.equal(findPreviousVersion(root), "HEAD", "this version is not committed");
  });

  it("is unknown in a shallow clone, without another version, and without git's folder", (t) => {
    const { root, commit } = repository(t);
    commit("0.1.0");
    assert.equal(findPreviousVersion(root), undefined);
    commit("0.2.0");
    const clone = join(folderOf(t), "clone");
    execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone], { stdio: "pipe" });
    assert.equal(findPreviousVersion(clone), undefined);
    const bare = folderOf(t);
    writeFileSync(join(bare, "package.json"), JSON.stringify({ version: "0.2.0" }));
    assert.equal(findPreviousVersion(bare), undefined);
  });

  it("is written with linked packages if both lock files name the same, else it installs its own", (t) => {
    const { root, git, commit } = repository(t);
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "bin/breezeway"), 'require("node:fs").mkdirSync(__dirname + "/../node_modules");');
    writeFileSync(join(root, ".gitignore"), "node_modules");
    commit("0.1.0", { "node_modules/pg": { version: "0.9.0" } });
    git("tag", "v0.1.0");
    commit("0.2.0");
    git("tag", "v0.2.0");
    commit("0.3.0");
    mkdirSync(join(root, "node_modules"));
    for (const [tag, isLinked] of [
      ["v0.1.0", false],
      ["v0.2.0", true],
    ] as const) {
      const folder = join(folderOf(t), "tree");
      checkOutVersion(root, tag, folder);
      assert.equal(`v${JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version}`, tag);
      assert.equal(lstatSync(join(folder, "node_modules")).isSymbolicLink(), isLinked);
      assert.equal(existsSync(join(folder, "version.tar")), false);
    }
  });
});
