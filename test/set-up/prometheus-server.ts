import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";
import { freePort } from "./free-port.ts";

/** Debian's package is unpacked here. Installed, it would start a server, now and at every start of the machine. */
const unpacked = new URL("../../node_modules/.cache/prometheus-server", import.meta.url).pathname;
const program = join(unpacked, "usr/bin/prometheus");

function installedPrometheus(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
  return [...folders.map((folder) => join(folder, "prometheus")), program].find(isExecutable);
}

/** Unpacks Debian's Prometheus where we may; elsewhere throws a sentence that says what to install. */
function ensurePrometheus(): string {
  return ensureProgram({
    wanted: "Prometheus",
    debianPackage: "prometheus",
    isThere: `test -x '${program}'`,
    install: `mkdir -p '${unpacked}' && cd '${unpacked}' && apt-get download -q prometheus &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/prometheus && rm prometheus_*.deb`,
    otherwise: "Debian: apt-get install prometheus; macOS: brew install prometheus",
    find: installedPrometheus,
  });
}

/** Why the tests can't have Prometheus here; undefined when they can. */
export function missingPrometheus(): string | undefined {
  return whyMissing(ensurePrometheus);
}

/** A Prometheus on a free port of this machine, until the test ends. */
export async function startPrometheus(t: TestContext, configFile: string, folder: string) {
  const port = await freePort();
  const child = spawn(
    ensurePrometheus(),
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
