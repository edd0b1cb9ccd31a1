import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { freePort } from "./free-port.ts";
import { ensureNginx } from "./nginx.ts";

/** Ends the server when its standard input closes: when the test is over, or its process, however that ends. */
const keeper = `
  "$@" 1>&2 & server=$!
  read -r _
  kill $server; wait $server; rm -rf "$FOLDER"`;

/** An nginx in front of the service, with nothing set but where that is. Answers its address; it ends with the test. */
export async function nginxInFront(t: TestContext, target: string): Promise<string> {
  const program = ensureNginx();
  const folder = mkdtempSync(join(tmpdir(), "breezeway-nginx-"));
  // Started by root, its worker is somebody else.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(folder, port, target));
  const keeping = spawn("sh", ["-c", keeper, "keeper", program, "-p", folder, "-c", file, "-e", "stderr"], {
    env: { ...process.env, FOLDER: folder },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  keeping.stdin.on("error", () => undefined);
  const ended = once(keeping, "exit");
  t.after(async () => {
    keeping.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await ready(keeping.stderr);
  return `http://127.0.0.1:${port}`;
}

function ready(said: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: said }).on("line", (line) => {
      if (line.includes("start worker process")) resolve();
      if (/\[emerg\]|^keeper: /.test(line)) reject(new Error(`nginx did not start: ${line}`));
    });
  });
}

function configuration(folder: string, port: number, target: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path "${join(folder, name)}";`,
  );
  return `
    daemon off;
    pid "${join(folder, "nginx.pid")}";
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${temporary.join("\n      ")}
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${target}; }
      }
    }`;
}
