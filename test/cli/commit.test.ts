import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { readCommit } from "../../src/runtime/process/commit.ts";
import { folderOf } from "./made-folder.ts";

const hash = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
const other = hash.replaceAll("0", "f");
const noted = "src/runtime/process/commit";

describe("the commit that breezeway --version shows", () => {
  const shows = (title: string, expected: string, files: Readonly<Record<string, string>>) =>
    it(title, (t) => {
      const root = folderOf(t);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      assert.equal(readCommit(join(root, "clone")), expected);
    });

  shows("is that of the branch", "0a1b2c3d", {
    "clone/.git/HEAD": "ref: refs/heads/main\n",
    "clone/.git/refs/heads/main": `${hash}\n`,
    "clone/.git/packed-refs": `${other} refs/heads/main\n`,
    [`clone/${noted}`]: other,
  });
  shows("is that of a packed branch", "0a1b2c3d", {
    "clone/.git/HEAD": "ref: refs/heads/main\n",
    "clone/.git/packed-refs": `# pack-refs with: peeled fully-peeled sorted\n${other} refs/heads/old/refs/heads/main\n${other} refs/heads/mainly\n${hash} refs/heads/main\n^${other}\n`,
  });
  shows("is HEAD if no branch is checked out", "0a1b2c3d", { "clone/.git/HEAD": `${hash}\n` });
  shows("is that of a worktree's branch", "0a1b2c3d", {
    "clone/.git": "gitdir: ../main/.git/worktrees/clone\n",
    "main/.git/HEAD": `${other}\n`,
    "main/.git/worktrees/clone/HEAD": "ref: refs/heads/topic\n",
    "main/.git/worktrees/clone/commondir": "../..\n",
    "main/.git/refs/heads/topic": `${hash}\n`,
  });
  shows("is the noted one without a checkout", "0a1b2c3d", { [`clone/${noted}`]: `${hash}\n` });
  shows("is unknown if git archive did not write it", "unknown", { [`clone/${noted}`]: "$Format:%H$\n" });
  shows("is unknown if the branch has no commit", "unknown", { "clone/.git/HEAD": "ref: refs/heads/main\n" });
  shows("is unknown in a damaged checkout", "unknown", { "clone/.git/HEAD": "\0\n" });
  shows("is unknown without a checkout and a note", "unknown", {});
});
