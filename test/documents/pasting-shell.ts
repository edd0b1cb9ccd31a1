import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

/** A bash in which a reader pastes one block after another. It ends at the first command that fails. */
export interface PastingShell {
  /** Runs a block; its lines on standard output. */
  paste(name: string, block: string): Promise<readonly string[]>;
}

const endOfBlock = "-- end of block --";

/** At the end of the test the shell runs `farewell`, and is waited for. */
export function pastingShell(
  t: TestContext,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly farewell: string },
): PastingShell {
  const { farewell, ...place } = options;
  const shell = spawn("bash", ["-euo", "pipefail"], { ...place, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(shell, "close");
  // The shell may have ended at a failure: then there is nobody to read what is pasted.
  shell.stdin.on("error", () => undefined);
  let complaints = "";
  shell.stderr.on("data", (chunk) => {
    complaints += chunk;
  });
  t.after(async () => {
    shell.stdin.end(`${farewell}\n`);
    await closed;
  });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  return {
    async paste(name, block) {
      complaints = "";
      shell.stdin.write(`${block}\necho '${endOfBlock}'\n`);
      const said: string[] = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done) await closed;
        if (done) assert.fail(`${name} failed:\n${said.join("\n")}\n${complaints}`);
        if (value === endOfBlock) return said;
        said.push(value);
      }
    },
  };
}
