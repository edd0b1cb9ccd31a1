import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
export function nginxInFront(t: TestContext, target: string): Promise<string> {
  return startNginx(t, (port) => `server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; } }`);
}

/** An nginx in front of the service, as deploy/proxy sets it up but for TLS. */
export function nginxAsProxy(t: TestContext, target: string): Promise<string> {
  const deployed = readFileSync(new URL("../../deploy/proxy/nginx.conf", import.meta.url), "utf8");
  const atTarget = deployed.replace("server 127.0.0.1:8080", `server ${new URL(target).host}`);
  const inClear = atTarget.replace(/^ {4}ssl_.*\n/gm, "").replace(/^ {4}(access|error)_log .*\n/gm, "");
  return startNginx(t, (port) => inClear.replace("listen 443 ssl", `listen 127.0.0.1:${port}`), 2);
}

/** An nginx in front of several nodes, as deploy/compose sets it up but for TLS; with as many workers as there are. */
export function nginxAsDeployed(t: TestContext, nodePorts: readonly number[], workers = 2): Promise<string> {
  const deployed = readFileSync(new URL("../../deploy/compose/nginx.conf", import.meta.url), "utf8");
  const ofOthers = /^ {4}server node-(?!1:)\d:8080.*;\n/gm;
  const atNodes = deployed
    .replace(ofOthers, "")
    .replace(/^ {4}server node-1:8080.*;\n/gm, (line) =>
      nodePorts.map((port) => line.replace("node-1:8080", `127.0.0.1:${port}`)).join(""),
    );
  const inClear = atNodes.replace(/^ {4}ssl_.*\n/gm, "").replace(/^ {4}(access|error)_log .*\n/gm, "");
  return startNginx(t, (port) => inClear.replace("listen 443 ssl", `listen 127.0.0.1:${port}`), workers);
}

async function startNginx(t: TestContext, site: (port: number) => string, workers = 1): Promise<string> {
  const program = ensureNginx();
  const folder = mkdtempSync(join(tmpdir(), "breezeway-nginx-"));
  // Started by root, its worker is somebody else.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(folder, site(port), workers));
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

function configuration(folder: string, site: string, workers: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path "${join(folder, name)}";`,
  );
  return `
    daemon off;
    pid "${join(folder, "nginx.pid")}";
    error_log stderr notice;
    worker_processes ${workers};
    events { worker_connections 8192; }
    http {
      access_log off;
      ${temporary.join("\n      ")}
      ${site}
    }`;
}
