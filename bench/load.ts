import { type Answer, Connection } from "./connection.ts";
import type { MeasuredProcess } from "./measured-process.ts";

/** As many requests at a time as there are connections: the same for all that is compared. */
const connections = 32;

/** What is sent to a server, and what is done with its answers. */
export interface Sending {
  readonly requests: number;
  readonly next: () => string;
  /** Any other would mean that something else is measured; 200 when left out. */
  readonly status?: number;
  readonly hear?: (answer: Answer) => void;
}

/** Asks one server as fast as it answers. */
export class Load implements Disposable {
  readonly process: MeasuredProcess;
  readonly #connections: (Connection | undefined)[] = new Array(connections).fill(undefined);

  constructor(process: MeasuredProcess) {
    this.process = process;
  }

  /** Resolves when all is answered. */
  async send({ requests, next, status = 200, hear }: Sending): Promise<void> {
    let left = requests;
    const sendSome = async (place: number) => {
      const connection = await this.#connection(place);
      while (left-- > 0) {
        const answer = await connection.ask(next());
        if (answer.status !== status) throw new Error(`an answer was ${answer.status}, not ${status}`);
        hear?.(answer);
      }
    };
    await Promise.all(this.#connections.map((_, place) => sendSome(place)));
  }

  /** The answer to one request, before or beside what is measured. */
  async body(request: string): Promise<Buffer> {
    using connection = await Connection.to(this.process.url);
    return (await connection.ask(request)).body;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection?.[Symbol.dispose]();
  }

  /** Kept from the last time, if the server has kept it too. */
  async #connection(place: number): Promise<Connection> {
    const kept = this.#connections[place];
    const connection = kept?.isOpen ? kept : await Connection.to(this.process.url);
    this.#connections[place] = connection;
    return connection;
  }
}
