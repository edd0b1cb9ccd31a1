import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSimulator } from "../../simulator/simulator.ts";
import { type Command, type Reply, type ShownChange, tokenPrefix } from "./living-accounts.ts";
import { putOf, shown, unseen, warmer } from "./snapshot-scenarios.ts";

/**
 * Runs as a child process: an ecosystem with very many accounts that report as living homes do. Accounts share a few
 * documents, which are computed beforehand, so that it needs little CPU and memory itself. The argument is the address on
 * which it listens. It ends with its parent.
 */
const houses = 20;
const usualHouse = { structures: [{ thermostats: 2, alarms: 3 }] };
const tickMs = 20;
/**
 * What a snapshot brings, as parts of all. Once a minute this is 6 changes an hour of fields that are shown, and a new
 * measured value in most of the others.
 */
const mix = { shown: 0.1, unseen: 0.05, same: 0.05 };
/** The shortest time between two shown changes of an account, so that each can be told from the next. */
const shownApartMs = 20_000;

const keepAlive = "event: keep-alive\ndata: null\n\n";
const keepAliveMs = 30_000;

/** The variants of a house by their number, whose bits say which fields differ. */
const bits = { shown: 1, warmer: 2, unseen: 4 };
const variants: { readonly document: string; readonly put: Buffer }[][] = [];
const streams = new Map<number, ServerResponse>();
const stateOf = new Map<number, number>();
const shownAtMs = new Map<number, number>();
let sent: ShownChange[] = [];
let snapshots = 0;
let timer: NodeJS.Timeout | undefined;

const server = createServer(answerRequest);
server.listen(0, process.argv[2] ?? "127.0.0.1", 4_096, () => {
  const { address, port } = server.address() as AddressInfo;
  process.send?.({ url: `http://${address}:${port}` });
});
process.on("disconnect", () => process.exit());
process.on("message", async (command: Command) => process.send?.(await answer(command)));

function answerRequest(request: IncomingMessage, response: ServerResponse): void {
  const [, token = ""] = request.headers.authorization?.split("Bearer ") ?? [];
  const account = Number(token.slice(tokenPrefix.length));
  if (!token.startsWith(tokenPrefix) || !Number.isInteger(account)) {
    response.writeHead(401).end();
    return;
  }
  const variant = variantOf(account);
  if (request.headers.accept !== "text/event-stream") {
    response.writeHead(200, { "content-type": "application/json" }).end(variant.document);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(variant.put);
  streams.set(account, response);
  // As the real ecosystem does: a stream that is silent for 70 seconds counts as dead.
  const beating = setInterval(() => response.write(keepAlive), keepAliveMs);
  response.once("close", () => {
    clearInterval(beating);
    if (streams.get(account) === response) streams.delete(account);
  });
}

function variantOf(account: number) {
  return variants[account % houses]![stateOf.get(account) ?? 0]!;
}

async function answer(command: Command): Promise<Partial<Reply>> {
  if (command.kind === "houses") return buildHouses();
  if (command.kind === "streams") return { streams: streams.size };
  if (command.kind === "live") return live(command.everyMs);
  const answered = { sent, snapshots };
  sent = [];
  return answered;
}

async function buildHouses(): Promise<Partial<Reply>> {
  const simulator = await startSimulator({ port: 0 });
  for (let seed = 1; seed <= houses; seed++) {
    const { accountId } = simulator.addAccount({ seed, ...usualHouse });
    const document = JSON.stringify(simulator.document(accountId));
    const ofHouse = Array.from({ length: 8 }, (_, variant) => {
      const edits = [
        ...(variant & bits.shown ? [shown] : []),
        ...(variant & bits.warmer ? [warmer] : []),
        ...(variant & bits.unseen ? [unseen] : []),
      ];
      const edited = edits.reduce((text, edit) => edit(text), document);
      return { document: edited, put: putOf(edited) };
    });
    variants.push(ofHouse);
  }
  await simulator.stop();
  return {};
}

function live(everyMs: number | null): Partial<Reply> {
  clearInterval(timer);
  if (everyMs === null) return {};
  const accounts = [...streams.keys()];
  let [lastMs, owed] = [performance.now(), 0];
  timer = setInterval(() => {
    const nowMs = performance.now();
    owed += ((nowMs - lastMs) * accounts.length) / everyMs;
    lastMs = nowMs;
    for (; owed >= 1; owed--) report(accounts[Math.floor(Math.random() * accounts.length)]!);
  }, tickMs);
  return {};
}

function report(account: number): void {
  const stream = streams.get(account);
  if (!stream) return;
  const nowMs = performance.timeOrigin + performance.now();
  const change = nextChange(nowMs - (shownAtMs.get(account) ?? 0) > shownApartMs);
  stateOf.set(account, (stateOf.get(account) ?? 0) ^ change);
  snapshots += 1;
  if (change === bits.shown) {
    shownAtMs.set(account, nowMs);
    sent.push({ account, sentMs: nowMs });
  }
  stream.write(variantOf(account).put);
}

function nextChange(mayShow: boolean): number {
  const chance = Math.random();
  if (chance < mix.shown && mayShow) return bits.shown;
  if (chance < mix.shown + mix.unseen) return bits.unseen;
  return chance < mix.shown + mix.unseen + mix.same ? 0 : bits.warmer;
}
