import { type Answer, Connection } from "./connection.ts";
import type { MeasuredProcess } from "./measured-process.ts";

/** Concurrent requests; the same for all sides of a comparison. */
const connections = 32;

/** Requests to a server, and a listener for its answers. */
export interface Sending {
  readonly requests: number;
  readonly next: () => string;
  /** The expected status, 200 by default. Another status fails the measurement. */
  readonly status?: number;
  readonly onAnswer?: (answer: Answer) => void;
}

/** Sends requests to one server as fast as it answers (closed loop). */
export class Load implements Disposable {
  readonly process: MeasuredProcess;
  readonly #connections: (Connection | undefined)[] = new Array(connections).fill(undefined);

  constructor(process: MeasuredProcess) {
    this.process = process;
  }

  /** Resolves when all requests are answered. */
  async send({ requests, next, status = 200, onAnswer }: Sending): Promise<void> {
    let left = requests;
    const sendSome = async (index: number) => {
      const connection = await this.#connection(index);
      while (left-- > 0) {
        const answer = await connection.send(next());
        if (answer.status !== status) throw new Error(`an answer was ${answer.status}, not ${status}`);
        onAnswer?.(answer);
      }
    };
    await Promise.all(this.#connections.map((_, index) => sendSome(index)));
  }

  /** The body of the answer to one request that is not measured. */
  async body(request: string): Promise<Buffer> {
    using connection = await Connection.to(this.process.url);
    return (await connection.send(request)).body;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection?.[Symbol.dispose]();
  }

  /** Reuses the connection of the last round if it is still open. */
  async #connection(index: number): Promise<Connection> {
    const kept = this.#connections[index];
    const connection = kept?.isOpen ? kept : await Connection.to(this.process.url);
    this.#connections[index] = connection;
    return connection;
  }
}
