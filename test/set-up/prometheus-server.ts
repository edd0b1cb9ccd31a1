import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { whyMissing } from "./debian-package.ts";
import { freePort } from "./free-port.ts";
import { ensurePrometheusProgram } from "./prometheus-package.ts";

/** Why the tests can't have Prometheus here; undefined when they can. */
export function missingPrometheus(): string | undefined {
  return whyMissing(() => ensurePrometheusProgram("prometheus"));
}

/** A Prometheus on a free port of this machine, until the test ends. */
export async function startPrometheus(t: TestContext, configFile: string, folder: string) {
  const port = await freePort();
  const child = spawn(
    ensurePrometheusProgram("prometheus"),
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (bytes) => {
    said += bytes;
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    /** What its API answers. */
    // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
    async ask(path: string): Promise<any> {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${said}`);
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
      return ((await answer.json()) as { data: unknown }).data;
    },
  };
}
