import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

/** A bash into which a reader pastes one block after another. It ends at the first command that fails. */
export interface PastingShell {
  /** Runs a block and returns its lines of standard output. */
  paste(name: string, block: string): Promise<readonly string[]>;
}

const endOfBlock = "-- end of block --";

/** At the end of the test the shell runs `farewell`, and the test waits for its end. */
export function pastingShell(
  t: TestContext,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly farewell: string },
): PastingShell {
  const { farewell, ...place } = options;
  const shell = spawn("bash", ["-euo", "pipefail"], { ...place, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(shell, "close");
  // The shell may have ended after a failure; then the write fails.
  shell.stdin.on("error", () => undefined);
  let errors = "";
  shell.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  t.after(async () => {
    shell.stdin.end(`${farewell}\n`);
    await closed;
  });
  const shellOutput = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  return {
    async paste(name, block) {
      errors = "";
      shell.stdin.write(`${block}\necho '${endOfBlock}'\n`);
      const lines: string[] = [];
      for (;;) {
        const { value, done } = await shellOutput.next();
        if (done) await closed;
        if (done) assert.fail(`${name} failed:\n${lines.join("\n")}\n${errors}`);
        if (value === endOfBlock) return lines;
        lines.push(value);
      }
    },
  };
}
