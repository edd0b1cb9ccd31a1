import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Account } from "./postgres-account.ts";

export interface Server {
  /** Ends as in a crash and starts again. */
  crash(): Promise<void>;
  /** Ends every process of the server with SIGKILL and starts it again. */
  kill(): Promise<void>;
  /** The same, and the server stays down. */
  killForGood(): Promise<void>;
  /** Shuts down in good order, and stays down until it is started again. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const maxConnections = 100;

/**
 * Keeps the server as long as its standard input is open: when the test process ends, however it ends, the pipe closes,
 * and the server and its files go. Each line on it is an order: to crash and start again, to halt, to start. A server that
 * was killed must have no process left when it is started again: it would find its shared memory in use.
 */
const keeper = `
  start() { "$@" 1>&2 & server=$!; }
  ended() { [ ! -e /proc/$1/status ] || grep -q '^State:.[ZX]' /proc/$1/status; }
  killed() {
    kill -STOP $server; all="$server $(pgrep -P $server)"; kill -KILL $all; wait $server
    for one in $all; do until ended $one; do :; done; done
  }
  start "$@"
  while read -r order; do
    case $order in
      crash) kill -QUIT $server; wait $server;;
      kill) killed 2>/dev/null;;
      kill-for-good) killed 2>/dev/null; echo "$order done" 1>&2; continue;;
      halt) kill -INT $server; wait $server; continue;;
    esac
    start "$@"
  done
  kill -QUIT $server; wait $server; rm -rf "$FOLDER"`;

export async function startServer(how: {
  readonly bin: string;
  readonly folder: string;
  readonly account: Account | undefined;
  readonly port: number;
  readonly fsync: boolean;
  /** More settings of the server. */
  readonly settings?: Readonly<Record<string, string | number>> | undefined;
  /** It follows a primary, and is ready as soon as it can be read. */
  readonly isStandby?: boolean;
}): Promise<Server> {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: how.port,
    unix_socket_directories: how.folder,
    max_connections: maxConnections,
    fsync: how.fsync ? "on" : "off",
    lc_messages: "C",
    logging_collector: "off",
    log_destination: "stderr",
    ...how.settings,
  };
  const command = [join(how.bin, "postgres"), "-D", join(how.folder, "data")];
  for (const [name, value] of Object.entries(settings)) command.push("-c", `${name}=${value}`);
  // A group of its own: Ctrl-C in a terminal reaches the tests, not the server behind their backs.
  const keeping = spawn("sh", ["-c", keeper, "keeper", ...command], {
    ...how.account,
    cwd: how.folder,
    env: { ...cleanEnvironment(), FOLDER: how.folder },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  // A keeper that is gone has done what closing its pipe asks for.
  keeping.stdin.on("error", () => undefined);
  const said = new ServerLog(keeping);
  await (how.isStandby ? said.readable() : said.ready());
  // It keeps the test process from ending only while somebody waits for it.
  const handles = [keeping, keeping.stdin as Socket, keeping.stderr as Socket];
  for (const handle of handles) handle.unref();
  const order = async (what: string, done: Promise<void>) => {
    for (const handle of handles) handle.ref();
    keeping.stdin.write(`${what}\n`);
    await done;
    for (const handle of handles) handle.unref();
  };
  return {
    crash: () => order("crash", said.ready()),
    kill: () => order("kill", said.ready()),
    killForGood: () => order("kill-for-good", said.says("kill-for-good done")),
    halt: () => order("halt", said.down()),
    start: () => order("start", said.ready()),
    async stop() {
      if (keeping.exitCode !== null) return;
      keeping.ref();
      keeping.stdin.end();
      await once(keeping, "exit");
    },
  };
}

/** How a start that fails ends, by the server's word or the shell's. */
const failures = /FATAL:|PANIC:|^(postgres|keeper|sh): /m;

/** What the server says: it tells when it is ready, and why it isn't. */
class ServerLog {
  readonly #keeping: ChildProcess;
  #recent = "";
  #hasStarted = false;
  #awaited = "";
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  constructor(keeping: ChildProcess) {
    this.#keeping = keeping;
    keeping.stderr?.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    keeping.once("exit", () => this.#waiting?.reject(new Error(`PostgreSQL ended: ${this.#recent.trim()}`)));
    keeping.once("error", (error) => this.#waiting?.reject(error));
  }

  ready(): Promise<void> {
    return this.says("ready to accept connections");
  }

  readable(): Promise<void> {
    return this.says("ready to accept read-only connections");
  }

  down(): Promise<void> {
    return this.says("database system is shut down");
  }

  says(awaited: string): Promise<void> {
    this.#recent = "";
    this.#awaited = awaited;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #hear(text: string): void {
    this.#recent = (this.#recent + text).slice(-4_000);
    if (this.#recent.includes(this.#awaited)) {
      this.#hasStarted = true;
      this.#waiting?.resolve();
    } else if (!this.#hasStarted && failures.test(this.#recent)) {
      // The keeper waits for us, not for a server that never came up: its pipe is closed, and it ends.
      this.#keeping.stdin?.end();
    }
  }
}

/** Settings of the developer's own PostgreSQL must not reach ours. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PG")));
}
