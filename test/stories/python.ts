import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

const program = new URL("python-client.py", import.meta.url).pathname;

/** Runs the Python client with this input and returns its output. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
export async function runPython(work: object): Promise<any> {
  const child = spawn("python3", [program]);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    stdout += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part) => {
    stderr += part;
  });
  child.stdin.end(JSON.stringify(work));
  const [code] = await once(child, "close");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}
