import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** `before`: the COMMIT never reaches the server. `after`: the server gets the COMMIT, and its answer is lost. */
export type Fate = "pass" | "before" | "after";

export interface CommitCutter {
  /** The same database, through the proxy. */
  readonly url: string;
  readonly cuts: { before: number; after: number };
  /** Decides about each COMMIT of a transaction that ran one of the chosen statements. */
  fate: () => Fate;
  stop(): Promise<void>;
}

/**
 * Stands between nodes and PostgreSQL, reads what the nodes send, and cuts a connection at a COMMIT. `chosen` matches the
 * statements whose transactions it may cut.
 */
export async function startCommitCutter(target: string, chosen: RegExp): Promise<CommitCutter> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(to.port), host: to.hostname, noDelay: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    far.on("data", (piece) => near.writable && near.write(piece));
    far.on("close", () => near.destroy());
    near.on("close", () => far.end());
    const messages = new FrontendMessages();
    /** The texts of the connection's prepared statements. */
    const statements = new Map<string, string>();
    let isChosen = false;
    near.on("data", (piece: Buffer) => {
      for (const message of messages.split(piece)) {
        if (far.writableEnded || far.destroyed) return;
        const asked = readAsked(message, statements);
        if (asked !== undefined && chosen.test(asked)) isChosen = true;
        const fate = asked === "COMMIT" && isChosen ? cutter.fate() : "pass";
        if (asked === "COMMIT" || asked === "ROLLBACK") isChosen = false;
        if (fate === "before") {
          cutter.cuts.before += 1;
          near.destroy();
          far.destroy();
          return;
        }
        far.write(message);
        if (fate === "after") {
          cutter.cuts.after += 1;
          // The server reads the COMMIT before it notices that the connection was closed.
          near.destroy();
          far.end();
          far.resume();
          return;
        }
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxied = new URL(target);
  proxied.port = String((server.address() as AddressInfo).port);
  proxied.hostname = "127.0.0.1";
  const cutter: CommitCutter = {
    url: proxied.href,
    cuts: { before: 0, after: 0 },
    fate: () => "pass",
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return cutter;
}

/** Splits what a client of PostgreSQL sends into its messages. The first one has no type. */
class FrontendMessages {
  #rest = Buffer.alloc(0);
  #isStarted = false;

  *split(piece: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, piece]);
    for (;;) {
      const headBytes = this.#isStarted ? 5 : 4;
      if (this.#rest.length < headBytes) return;
      const bytes = this.#rest.readInt32BE(headBytes - 4) + headBytes - 4;
      if (this.#rest.length < bytes) return;
      const message = this.#rest.subarray(0, bytes);
      this.#rest = this.#rest.subarray(bytes);
      this.#isStarted = true;
      yield message;
    }
  }
}

/** The statement that a message runs: a simple query's text, or that of the prepared statement which a Bind names. */
function readAsked(message: Buffer, statements: Map<string, string>): string | undefined {
  const type = String.fromCharCode(message[0] ?? 0);
  const texts = () => message.subarray(5).toString("latin1").split("\0");
  if (type === "Q") return texts()[0];
  if (type === "P") {
    const [name = "", text = ""] = texts();
    statements.set(name, text);
  }
  return type === "B" ? statements.get(texts()[1] ?? "") : undefined;
}
