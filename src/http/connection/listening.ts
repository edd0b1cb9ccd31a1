import { once } from "node:events";
import { type AddressInfo, createServer, Server as NetServer } from "node:net";
import type { FastifyInstance } from "fastify";

/** Length of the accept queue. If it is short, a burst of one client makes others retry after a second. */
const backlog = 4_096;

/**
 * libuv accepts one connection of a listening socket in each turn of the event loop, so a burst of one client's
 * connections would delay all other clients by as many turns. The kernel spreads new connections over all sockets that
 * listen on one port (SO_REUSEPORT), and each turn accepts one connection of every socket.
 */
const socketsPerPort = process.platform === "linux" ? 16 : 1;

/** The sockets that listen for the connections of one server. */
export class Listening {
  readonly #server: NetServer;
  readonly #others: readonly NetServer[];

  private constructor(server: NetServer, others: readonly NetServer[]) {
    this.#server = server;
    this.#others = others;
  }

  static async start(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<Listening> {
    const reusePort = socketsPerPort > 1;
    try {
      // With SO_REUSEPORT another service of the same user could silently share the port.
      if (reusePort && port !== 0) await refuseTakenPort(host, port);
      await app.listen({ host, port, backlog, ...(reusePort && { reusePort }) });
    } catch (error) {
      await app.close();
      throw explained(error, host, port);
    }
    const { address, port: taken } = app.server.address() as AddressInfo;
    const others = Array.from({ length: socketsPerPort - 1 }, () =>
      new NetServer((socket) => void app.server.emit("connection", socket)).listen({
        ...{ host: address, port: taken, backlog, reusePort },
      }),
    );
    await Promise.all(others.map((other) => once(other, "listening")));
    return new Listening(app.server, others);
  }

  /** Accepts no further connection. Resolves when the open ones have ended. */
  async stop(): Promise<void> {
    await Promise.all([this.#server, ...this.#others].map(closed));
  }
}

/** The HTTP server's own `close` would also end connections whose first request is still arriving. */
function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}

/** Throws PortTaken if another process listens there. */
export async function refuseTakenPort(host: string, port: number): Promise<void> {
  const probe = createServer().listen({ host, port });
  try {
    await once(probe, "listening");
  } catch (error) {
    throw explained(error, host, port);
  }
  await closed(probe);
}

function explained(error: unknown, host: string, port: number): unknown {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return isTaken && !(error instanceof PortTaken) ? new PortTaken(host, port, error) : error;
}

export class PortTaken extends Error {
  readonly code = "EADDRINUSE";
  constructor(host: string, port: number, cause: Error) {
    super(`Port ${port} on ${host} is taken. Stop what uses it, or choose another with BREEZEWAY_PORT.`, { cause });
    this.name = "PortTaken";
  }
}
