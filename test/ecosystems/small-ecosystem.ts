import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** What the ecosystem knows of one account. */
export interface SmallAccount {
  readonly structures: Readonly<Record<string, { readonly name: string; readonly away: "home" | "away" }>>;
  readonly thermostats: Readonly<Record<string, { readonly structureId: string; readonly fan: boolean }>>;
  readonly alarms: Readonly<Record<string, { readonly structureId: string; readonly smoke: string }>>;
}

export const token = "small-Token-1";

const firstAccount: SmallAccount = {
  structures: { s1: { name: "Cabin", away: "home" } },
  thermostats: { t1: { structureId: "s1", fan: false } },
  alarms: { a1: { structureId: "s1", smoke: "ok" } },
};

/** An ecosystem with one account, for connectors that are built from the kit. It can only be read. */
export class SmallEcosystem {
  #account = firstAccount;
  #isRevoked = false;
  /** How many reads are answered; the rest stay open. */
  answeredReads = Number.POSITIVE_INFINITY;
  /** Called with each read that stays open. */
  leftOpen: () => void = () => undefined;
  /** Called when a read was answered, with the number of reads so far. */
  answered: (reads: number) => void = () => undefined;
  #reads = 0;
  url = "";

  async start(t: TestContext): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  leave(): void {
    this.#account = { ...this.#account, structures: { s1: { name: "Cabin", away: "away" } } };
  }

  revoke(): void {
    this.#isRevoked = true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (this.#isRevoked || request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
    } else if (request.method === "PUT") {
      this.#account = { ...this.#account, thermostats: { t1: { structureId: "s1", fan: JSON.parse(body).fan } } };
      response.end("{}");
    } else if (request.method === "DELETE") {
      response.end("{}");
      this.revoke();
    } else if (this.answeredReads > 0) {
      this.answeredReads -= 1;
      response.end(JSON.stringify(this.#account));
      this.#reads += 1;
      this.answered(this.#reads);
    } else {
      this.leftOpen();
    }
  }
}
