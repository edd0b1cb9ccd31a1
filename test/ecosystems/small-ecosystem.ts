import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { FeedMessage } from "../../src/ecosystems/kit/deployment-feed.ts";

/** What the ecosystem knows of one account. */
export interface SmallAccount {
  readonly structures: Readonly<Record<string, { readonly name: string; readonly away: "home" | "away" }>>;
  readonly thermostats: Readonly<Record<string, { readonly structureId: string; readonly fan: boolean }>>;
  readonly alarms: Readonly<Record<string, { readonly structureId: string; readonly smoke: string }>>;
}

/** A message of the ecosystem's feed: an object as it is now, or the end of the account's messages. */
export type SmallMessage =
  | { readonly kind: keyof SmallAccount; readonly id: string; readonly object: unknown }
  | { readonly ends: "revoked" | "closed" };

export const userId = "external-1";
export const token = "small-Token-1";

const firstAccount: SmallAccount = {
  structures: { s1: { name: "Cabin", away: "home" } },
  thermostats: { t1: { structureId: "s1", fan: false } },
  alarms: { a1: { structureId: "s1", smoke: "ok" } },
};

/**
 * An ecosystem with one account, for connectors that are built from the kit. It can be read over HTTP, and sends
 * messages about changes to the subscriber of its feed.
 */
export class SmallEcosystem {
  #account = firstAccount;
  #isRevoked = false;
  #send: (message: FeedMessage<SmallMessage>) => unknown = () => undefined;
  /** How many reads are answered; the rest stay open. */
  answeredReads = Number.POSITIVE_INFINITY;
  /** Called with each read that stays open. */
  leftOpen: () => void = () => undefined;
  /** Called when a read was answered, with the number of reads so far. */
  answered: (reads: number) => void = () => undefined;
  #reads = 0;
  /** Ids of the messages that were acknowledged. */
  readonly acknowledged: number[] = [];
  #messages = 0;
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

  subscribe(send: (message: FeedMessage<SmallMessage>) => unknown): void {
    this.#send = send;
  }

  leave(): void {
    this.#account = { ...this.#account, structures: { s1: { name: "Cabin", away: "away" } } };
    this.sendStructure();
  }

  sendStructure(): void {
    this.#tell({ kind: "structures", id: "s1", object: this.#account.structures.s1 });
  }

  revoke(): void {
    this.#isRevoked = true;
    this.#tell({ ends: "revoked" });
  }

  hangUp(): void {
    this.#tell({ ends: "closed" });
  }

  #tell(content: SmallMessage): void {
    this.#messages += 1;
    const id = this.#messages;
    const acknowledge = () => void this.acknowledged.push(id);
    this.#send({ externalUserId: userId, content, acknowledge, giveBack: () => undefined });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (this.#isRevoked || request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
    } else if (request.method === "PUT") {
      this.#account = { ...this.#account, thermostats: { t1: { structureId: "s1", fan: JSON.parse(body).fan } } };
      response.end("{}");
      this.#tell({ kind: "thermostats", id: "t1", object: this.#account.thermostats.t1 });
    } else if (request.method === "DELETE") {
      response.end("{}");
      this.revoke();
    } else if (this.answeredReads > 0) {
      this.answeredReads -= 1;
      response.end(JSON.stringify({ userId, ...this.#account }));
      this.#reads += 1;
      this.answered(this.#reads);
    } else {
      this.leftOpen();
    }
  }
}
