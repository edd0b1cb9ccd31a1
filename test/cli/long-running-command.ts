import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { cleanEnvironment } from "../stories/child-service.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Starts a command that runs until it is stopped, in a child process, and reads its output line by line. */
export function startCommand(t: TestContext, args: readonly string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", `${root}src/main.ts`, ...args], {
    env: cleanEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => JSON.parse((await lines.next()).value ?? "null");
  /** The next line that is not about the connection. */
  const next = async () => {
    for (;;) {
      const message = await line();
      if (message?.type !== "connection") return message;
    }
  };
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal, err }));
  return { child, line, next, ended };
}
