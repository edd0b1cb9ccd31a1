import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What the proxy does with what comes from the far side. `half-open`: nothing goes on and nothing is closed. `drip`: one
 * byte at a time. `cut`: the next piece goes half-way, then the connection breaks. `closed`: nobody gets through.
 */
export type ProxyMood = "open" | "half-open" | "drip" | "cut" | "closed";

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const proxy = new FaultProxy(new URL(target));
  await proxy.listen();
  return proxy;
}

/** Stands between the service and the ecosystem, and breaks what a network breaks. */
export class FaultProxy {
  #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  mood: ProxyMood = "open";
  delayMs = 0;
  /** How many connections were tried through it. */
  opened = 0;

  constructor(target: URL) {
    this.#target = target;
    // What it passes on it passes on at once, as a wire would.
    this.#server = createServer({ noDelay: true }, (near) => this.#join(near));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** New connections go to another target; those that are open stay where they are. */
  turnTo(target: string): void {
    this.#target = new URL(target);
  }

  /** Breaks every open connection at once. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.drop();
    await closed;
  }

  #join(near: Socket): void {
    this.opened += 1;
    if (this.mood === "closed") {
      near.destroy();
      return;
    }
    const far = connect({ port: Number(this.#target.port), host: this.#target.hostname, noDelay: true });
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.#sockets.delete(socket));
    }
    near.on("close", () => far.destroy());
    far.on("close", () => this.mood === "half-open" || near.destroy());
    near.on("data", (piece) => this.mood === "half-open" || far.write(piece));
    far.on("data", (piece: Buffer) => this.#pass(piece, near, far));
  }

  #pass(piece: Buffer, near: Socket, far: Socket): void {
    if (this.mood === "half-open") return;
    if (this.mood === "cut") {
      near.write(piece.subarray(0, piece.length / 2), () => near.destroy());
      far.destroy();
    } else if (this.delayMs > 0) {
      setTimeout(() => near.writable && near.write(piece), this.delayMs).unref();
    } else if (this.mood === "drip") {
      near.setNoDelay(true);
      for (const byte of piece) near.write(Buffer.of(byte));
    } else near.write(piece);
  }
}
