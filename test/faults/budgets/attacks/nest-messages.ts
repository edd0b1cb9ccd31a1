import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { account, hostileEcosystem, put, writeAndDrain } from "../hostile-ecosystem.ts";
import { linkState, sendToken, shownState } from "../link-status.ts";
import { deepList, emptyObjects, hostileAnswers, type RawAnswer } from "../raw-answers.ts";
import type { Note } from "../sightings.ts";

const reconnectMs = 12_000;
const settleMs = 500;
const readsForMs = 30_000;

interface StreamDose {
  readonly message: string;
  readonly size: string;
  readonly pieces: () => Iterable<string>;
}

/** What an ecosystem with streams can send on one: puts, events of every kind, and lines that never end. */
export const nestStreams: Attack = {
  name: "streams of a Nest account",
  async run(target, note) {
    for (const dose of doses) await playOnStream(target, dose, note);
    return { "messages sent": doses.length };
  },
};

/** The answers to a plain read of the account, with which a new token is verified. */
export const nestReads: Attack = {
  name: "reads of a Nest account",
  async run(target, note) {
    let reads = 0;
    const untilMs = performance.now() + readsForMs;
    for (const answer of [
      ...hostileAnswers('{"devices":@}'),
      ...hostileAnswers("@", { status: 500 }).slice(1, 4),
      redirects,
    ]) {
      if (performance.now() > untilMs) break;
      hostileEcosystem.reading = answer;
      const startedMs = performance.now();
      const said = await sendToken(target, "PUT", { ecosystem: "hostile", token: `hostile-${reads}` });
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      note({
        message: "read of a Nest account",
        size: answer.size,
        isTaken: said === "200",
        fate: `${said}, after ${seconds} s`,
      });
      reads += 1;
    }
    hostileEcosystem.reading = undefined;
    return { reads };
  },
};

const redirects: RawAnswer = {
  size: "redirects to itself",
  pieces: () => ["HTTP/1.1 307 Redirect\r\nlocation: /nest/\r\ncontent-length: 0\r\n\r\n"],
};

async function playOnStream(target: Target, { message, size, pieces }: StreamDose, note: Note): Promise<void> {
  const opened = openStream(reconnectMs);
  for (const stream of hostileEcosystem.streams) stream.destroy();
  const stream = await opened;
  if (!stream) {
    note({
      message,
      size,
      isTaken: false,
      fate: `not linked again (${shownState(await linkState(target, "hostile"))})`,
    });
    return;
  }
  // The service must have taken the account: a stream that ends before it counts as a failure.
  await pause(settleMs);
  const startedMs = performance.now();
  let bytes = 0;
  for (const piece of pieces()) {
    if (stream.destroyed || performance.now() - startedMs > 8_000) break;
    bytes += piece.length;
    await writeAndDrain(stream, piece);
  }
  await pause(settleMs);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const state = shownState(await linkState(target, "hostile"));
  const sent = `${Math.ceil(bytes / 1_000).toLocaleString("en")} kB in ${seconds} s`;
  const isTaken = !stream.destroyed;
  note({ message, size, isTaken, fate: `${isTaken ? "read" : "connection ended after"} ${sent} (${state})` });
}

function openStream(limitMs: number): Promise<ServerResponse | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs);
    hostileEcosystem.onStream = (response) => {
      clearTimeout(timer);
      resolve(response);
    };
  });
}

const textOfPut = (data: string) => `event: put\ndata: {"path":"/","data":${data}}\n\n`;
const thousand = (piece: string) => piece.repeat(1_000);

function* times(count: number, piece: string): Iterable<string> {
  for (let i = 0; i < count; i++) yield piece;
}

const doses: readonly StreamDose[] = [
  { message: "put", size: "2 MB of thermostats", pieces: () => [put(account("many", 9_000))] },
  { message: "put", size: "60 kB of {}", pieces: () => [textOfPut(emptyObjects(60_000, '{"devices":@}'))] },
  { message: "put", size: "2 MB of {}", pieces: () => [textOfPut(emptyObjects(2_000_000, '{"devices":@}'))] },
  {
    message: "put",
    size: "2 MB of members",
    pieces: () => {
      const members = Array.from({ length: 180_000 }, (_, i) => `"${i.toString(36)}":{}`).join(",");
      return [textOfPut(`{"devices":{"thermostats":{${members}}},"structures":{}}`)];
    },
  },
  { message: "put", size: "100,000 levels", pieces: () => [textOfPut(deepList(100_000))] },
  {
    message: "line that never ends",
    size: "1.9 MB",
    pieces: () => ["event: put\ndata: ", ...times(29, "x".repeat(65_536))],
  },
  {
    message: "line that never ends",
    size: "8 MB",
    pieces: () => ["event: put\ndata: ", ...times(128, "x".repeat(65_536))],
  },
  { message: "lines of one event that never ends", size: "4 MB", pieces: () => times(400, thousand("data: 123\n")) },
  { message: "tiny events", size: "300,000", pieces: () => times(300, thousand("event: keep-alive\ndata: null\n\n")) },
  {
    message: "events of an unknown type",
    size: "300,000",
    pieces: () => times(300, thousand("event: new\ndata: {}\n\n")),
  },
  {
    message: "puts of a part",
    size: "50,000",
    pieces: () => times(50, thousand('event: put\ndata: {"path":"/a","data":1}\n\n')),
  },
  { message: "comments", size: "300,000", pieces: () => times(300, thousand(":\n")) },
  { message: "error event", size: "1.9 MB", pieces: () => [`event: error\ndata: ${"x".repeat(1_900_000)}\n\n`] },
];
