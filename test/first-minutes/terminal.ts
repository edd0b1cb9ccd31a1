import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { cleanEnvironment } from "../stories/child-service.ts";

const launcher = new URL("../../bin/breezeway", import.meta.url).pathname;

/** Where a terminal can't be made. */
export const skip = process.platform === "linux" ? false : "script, as Linux has it, makes the terminal";

export interface AtTerminal {
  /** Presses keys, as one does: the terminal makes signals of them. */
  press(keys: string): void;
  /** What the screen holds since the command last drew over itself. */
  readonly screen: string;
  /** Waits until all that was shown so far holds this. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code, as a shell has it, and all that was shown. */
  readonly ended: Promise<{ readonly code: number; readonly shown: string }>;
}

export const ctrlC = "\u0003";

/** The command as somebody types it at a terminal: a real one, with the launcher and the service on it. */
export function atTerminal(t: TestContext, typed: string, environment: Record<string, string> = {}): AtTerminal {
  // Whatever shell the terminal starts, it must not stay in between: some of them die of the Ctrl-C themselves.
  const command = `exec ${quoted(process.execPath)} ${quoted(launcher)} ${typed}`;
  const terminal = { TERM: "xterm-256color", CI: "", NO_COLOR: "", FORCE_COLOR: "" };
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env: cleanEnvironment({ ...terminal, ...environment }),
    stdio: ["pipe", "pipe", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  let shown = "";
  let look = () => {};
  child.stdout.on("data", (chunk) => {
    shown += chunk;
    look();
  });
  return {
    get screen() {
      return shown.slice(shown.lastIndexOf("\u001b[J") + 1);
    },
    press: (keys) => void child.stdin.write(keys),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const found = pattern.exec(shown);
          if (found) resolve(found);
        };
        child.once("close", () => reject(new Error(`${pattern} was never shown:\n${shown}`)));
        look();
      }),
    ended: once(child, "close").then(([code]) => ({ code: code as number, shown })),
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
