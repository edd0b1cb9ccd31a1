import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export async function startBalancer(random: () => number): Promise<Balancer> {
  const balancer = new Balancer(random);
  await balancer.listen();
  return balancer;
}

/**
 * What stands before the nodes of a deployment: one address for all, and each request goes to one of them at random. A
 * node that nobody listens at is passed over; a request that breaks on its way breaks for its sender.
 */
export class Balancer {
  readonly #random: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where the nodes listen, on loopback. The code that starts and stops them sets this list. */
  ports: readonly number[] = [];

  constructor(random: () => number) {
    this.#random = random;
    this.#server = createServer((question, answer) => this.#pass(question, answer, this.ports));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Whatever the nodes have said still arrives. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroySoon();
  }

  #pass(question: IncomingMessage, answer: ServerResponse, choices: readonly number[]): void {
    const port = choices[Math.floor(this.#random() * choices.length)];
    if (port === undefined) {
      answer.writeHead(502).end("no node listens");
      return;
    }
    const { method, url = "/" } = question;
    // A connection for each: one that is kept may belong to a node that has just died.
    const headers = [...headersOf(question), "connection", "close"];
    // Who sends nothing sends no empty body of unknown length either.
    if (!hasBody(question) && method !== "GET" && method !== "HEAD") headers.push("content-length", "0");
    const passed = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false });
    /** Whoever has the whole answer already may use the connection for the next question. */
    const breakOff = () => answer.writableEnded || answer.destroy();
    passed.once("response", (response) => {
      answer.writeHead(response.statusCode!, response.statusMessage, headersOf(response));
      // An event stream begins before its first event.
      answer.flushHeaders();
      response.pipe(answer);
      response.on("error", () => breakOff());
    });
    passed.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNREFUSED") breakOff();
      else
        this.#pass(
          question,
          answer,
          choices.filter((one) => one !== port),
        );
    });
    answer.once("close", () => passed.destroy());
    // Only where somebody listens: a question's body can be passed on once.
    const passBody = () => (hasBody(question) ? question.pipe(passed) : passed.end());
    passed.once("socket", (socket) => socket.once("connect", passBody));
  }
}

/** All but those that are about the connection, of which there are two. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const isOfConnection = (place: number) => /^(connection|keep-alive)$/i.test(rawHeaders[place - (place % 2)]!);
  return rawHeaders.filter((_, place) => !isOfConnection(place));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
