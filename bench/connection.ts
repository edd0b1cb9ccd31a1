import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** One keep-alive connection, for one request at a time. It uses little CPU, because it shares the machine with the server. */
export class Connection implements Disposable {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  /** Of the answer that is being received, once its headers have been read. */
  #head: { readonly status: number; readonly bodyAt: number; readonly length: number } | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("the server closed the connection")));
  }

  static async to(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new Connection(socket);
  }

  /** False when the server has closed the connection, as it does after an idle time. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  send(request: string): Promise<Answer> {
    if (!this.isOpen) return Promise.reject(new Error("the server has closed the connection"));
    this.#waiting = Promise.withResolvers<Answer>();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#head ??= headOf(Buffer.concat(this.#received));
    if (!this.#head) return;
    const { status, bodyAt, length } = this.#head;
    const receivedLength = this.#received.reduce((sum, { length }) => sum + length, 0);
    if (receivedLength < bodyAt + length) return;
    const body = Buffer.concat(this.#received).subarray(bodyAt);
    this.#received = [];
    this.#head = undefined;
    const answered = this.#waiting;
    this.#waiting = undefined;
    answered?.resolve({ status, body });
  }
}

/** Undefined while the headers are incomplete. */
function headOf(bytes: Buffer) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  if (length === undefined) throw new Error("an answer has no content-length");
  return { status: Number(text.slice(9, 12)), bodyAt: end + 4, length: Number(length) };
}
