import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSimulator } from "../../simulator/simulator.ts";
import { ordinaryDay, type Scenario, type Scenarios, scenariosOf, waves } from "./snapshot-scenarios.ts";

/**
 * Runs as a child process: an ecosystem that plays prepared snapshots to one reader at a time. All snapshots are
 * computed beforehand, so that every reader gets the same bytes in each round. It ends with its parent.
 */
export type Command =
  | { readonly kind: "accounts"; readonly count: number; readonly house: House }
  | { readonly kind: "streams"; readonly reader: string }
  | ({ readonly kind: "play" } & Playback)
  | ({ readonly kind: "stream" } & Streaming);

export interface House {
  readonly structures: { thermostats: number; alarms: number }[];
}

export interface Playback {
  /** The first segment of the path that the reader requested. */
  readonly reader: string;
  readonly tokens: readonly string[];
  readonly scenario: Scenario;
  /** The interval between waves. Each wave sends one snapshot of every account. */
  readonly everyMs: number;
}

/** Snapshots one by one at a steady pace, of one account after the other. Each changes one field that is shown. */
export interface Streaming {
  readonly reader: string;
  readonly tokens: readonly string[];
  /** Snapshots of each account; an even number, so that the account ends as it began. */
  readonly each: number;
  readonly perSecond: number;
}

export interface Reply {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly streams: number;
  /** The size of the snapshot with which each scenario ends. */
  readonly bytes: number;
}

interface Account {
  readonly document: string;
  readonly scenarios: Scenarios;
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
  response.write(account.scenarios["nothing new"][0]);
  response.once("close", () => account.streams.delete(reader));
  return account.streams.set(reader, response);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on("disconnect", () => process.exit());
process.on("message", async (command: Command) => process.send?.(await answer(command)));

async function answer(command: Command): Promise<Partial<Reply>> {
  if (command.kind === "accounts") return addAccounts(command.count, command.house);
  if (command.kind === "play") return play(command);
  if (command.kind === "stream") return stream(command);
  return { streams: [...accounts.values()].filter(({ streams }) => streams.has(command.reader)).length };
}

async function addAccounts(count: number, house: House): Promise<Partial<Reply>> {
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
    const scenarios = scenariosOf(document, day);
    tokens.push(token);
    bytes = scenarios["nothing new"][0]!.length;
    accounts.set(token, { document, scenarios, streams: new Map() });
  }
  await simulator.stop();
  return { tokens, bytes };
}

async function play({ reader, tokens, scenario, everyMs }: Playback): Promise<Partial<Reply>> {
  const played = tokens.map((token) => accounts.get(token)!);
  for (let wave = 0; wave < waves; wave++) {
    for (const { streams, scenarios } of played) streams.get(reader)!.write(scenarios[scenario][wave]);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return {};
}

async function stream({ reader, tokens, each, perSecond }: Streaming): Promise<Partial<Reply>> {
  const streamed = tokens.map((token) => accounts.get(token)!);
  const startedMs = performance.now();
  for (let sent = 0; sent < each * streamed.length; ) {
    const due = Math.min(each * streamed.length, ((performance.now() - startedMs) * perSecond) / 1_000);
    for (; sent < due; sent++) {
      const { streams, scenarios } = streamed[sent % streamed.length]!;
      const wave = Math.floor(sent / streamed.length) % waves;
      streams.get(reader)!.write(scenarios["one field that is shown"][wave]);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return {};
}
