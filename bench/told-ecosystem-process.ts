import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSimulator } from "../simulator/simulator.ts";
import { ordinaryDay, type Stories, type Story, storiesOf, waves } from "./told-stories.ts";

/**
 * Loaded as a process of its own: an ecosystem whose accounts say what they are told to, to one reader at a time. All
 * that it will ever send is written down beforehand, so that every reader gets the same bytes, as often as it takes. It
 * ends with whoever started it.
 */
export type Asked =
  | { readonly ask: "accounts"; readonly count: number; readonly house: House }
  | { readonly ask: "streams"; readonly reader: string }
  | ({ readonly ask: "tell" } & Telling);

export interface House {
  readonly structures: { thermostats: number; alarms: number }[];
}

export interface Telling {
  /** The first part of the path by which the reader has come. */
  readonly reader: string;
  readonly tokens: readonly string[];
  readonly story: Story;
  /** Each account is told of once in each wave. */
  readonly everyMs: number;
}

export interface Told {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly streams: number;
  /** The size of the snapshot that each story ends with. */
  readonly bytes: number;
}

interface Account {
  readonly document: string;
  readonly stories: Stories;
  readonly streams: Map<string, ServerResponse>;
}

const accounts = new Map<string, Account>();
const server = createServer((request, response) => {
  const account = accounts.get(request.headers.authorization?.replace("Bearer ", "") ?? "");
  const [, reader = ""] = request.url!.split("/");
  if (!account) return response.writeHead(401).end();
  if (request.headers.accept !== "text/event-stream") {
    return response.writeHead(200, { "content-type": "application/json" }).end(account.document);
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(account.stories["nothing new"][0]);
  response.once("close", () => account.streams.delete(reader));
  return account.streams.set(reader, response);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on("disconnect", () => process.exit());
process.on("message", async (asked: Asked) => process.send?.(await answer(asked)));

async function answer(asked: Asked): Promise<Partial<Told>> {
  if (asked.ask === "accounts") return addAccounts(asked.count, asked.house);
  if (asked.ask === "tell") return tell(asked);
  return { streams: [...accounts.values()].filter(({ streams }) => streams.has(asked.reader)).length };
}

async function addAccounts(count: number, house: House): Promise<Partial<Told>> {
  const simulator = await startSimulator({ port: 0 });
  const tokens: string[] = [];
  let bytes = 0;
  for (let seed = 1; seed <= count; seed++) {
    const { accountId, token } = simulator.addAccount({ seed, ...house });
    const first = simulator.document(accountId);
    const day: string[] = [];
    for (const scene of ordinaryDay) {
      await simulator.playScene(accountId, { scene });
      day.push(JSON.stringify(simulator.document(accountId)));
    }
    const document = JSON.stringify(first);
    const stories = storiesOf(document, day);
    tokens.push(token);
    bytes = stories["nothing new"][0]!.length;
    accounts.set(token, { document, stories, streams: new Map() });
  }
  await simulator.stop();
  return { tokens, bytes };
}

async function tell({ reader, tokens, story, everyMs }: Telling): Promise<Partial<Told>> {
  const told = tokens.map((token) => accounts.get(token)!);
  for (let wave = 0; wave < waves; wave++) {
    for (const { streams, stories } of told) streams.get(reader)!.write(stories[story][wave]);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return {};
}
