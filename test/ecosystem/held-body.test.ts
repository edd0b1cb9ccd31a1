import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { nestConnector } from "../../src/ecosystem/nest/connector.ts";
import { send } from "../../src/ecosystem/nest/request.ts";
import type { Account } from "../../src/model/account.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { putFrame, startByteServer, streamHead } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeDocument, makeThermostat } from "./made-documents.ts";

const chunkedHead = streamHead.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n");

describe("streams that read into one buffer", () => {
  it("hear nothing of each other, wherever their bytes are cut", async (t) => {
    const [streams, puts] = [8, 12];
    const server = await startByteServer(t, (socket, index) => void talk(socket, index));
    const talk = async (socket: Socket, index: number) => {
      socket.setNoDelay(true).write(chunkedHead);
      for (let number = 0; number < puts; number++) {
        const bytes = Buffer.from(putFrame(named(`stream ${index}, put ${number}, ${"é🏡".repeat(20 + index)}`)));
        // Behind the data, so that only the blank line is left; or within a name or a character too.
        const last = [bytes.length - 1, bytes.length];
        const cuts = number % 2 === 0 ? last : [7 * index + 1, bytes.length - 300 + number, ...last];
        for (const [place, cut] of cuts.entries()) {
          socket.write(chunkOf(bytes.subarray(place === 0 ? 0 : cuts[place - 1], cut)));
          await nextTurn();
        }
      }
    };
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    const listening = Array.from({ length: streams }, (_, place) => listen(connector, `token-${place}`));
    for (const [place, { heard, until, stop, ended }] of listening.entries()) {
      await until(puts);
      const asked = server.requests.findIndex((request) => request.includes(`Bearer token-${place}\r`));
      const names = heard.map((account) => nameIn(account as Account));
      assert.deepEqual(
        names.map((name) => name.split(", é")[0]),
        Array.from({ length: puts }, (_, number) => `stream ${asked}, put ${number}`),
      );
      assert.ok(names.every((name) => name.endsWith("é🏡".repeat(20 + asked))));
      stop();
      await ended;
    }
  });

  it("lose nothing while they are held back, of whatever comes together", async (t) => {
    const puts = 150;
    const wheres = Object.fromEntries(Array.from({ length: 400 }, (_, number) => [`where ${number}`, { number }]));
    // Each differs in more than its objects, so that reading them is put off until there is time for it.
    const frames = Array.from({ length: puts }, (_, number) => {
      return Buffer.from(putFrame({ ...named(`put ${number}`), metadata: { number, wheres } }));
    });
    const server = await startByteServer(t, (socket) => {
      socket.write(chunkedHead);
      socket.write(
        Buffer.concat(frames.flatMap((bytes) => [chunkOf(bytes.subarray(0, 999)), chunkOf(bytes.subarray(999))])),
      );
    });
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    const { heard, until, stop, ended } = listen(connector, "token");
    await until(puts);
    assert.deepEqual(
      heard.map((account) => nameIn(account as Account)),
      frames.map((_, number) => `put ${number}`),
    );
    stop();
    await ended;
  });

  it("are read as Node reads them, however their answers are written and cut", async (t) => {
    const below = belowFrom(numbersFrom(20));
    const letters = Array.from({ length: 40 }, (_, place) => answerOfLetters(below, place));
    const server = await startByteServer(t, (socket, index) => {
      // Each is asked for twice in a row.
      const { bytes } = letters[index >> 1]!;
      void (async () => {
        socket.setNoDelay(true);
        for (let at = 0; at < bytes.length && !socket.destroyed; ) {
          const end = at + 1 + below(at < 200 ? 40 : 4_000);
          socket.write(bytes.subarray(at, end));
          await nextTurn();
          at = end;
        }
        socket.end();
      })();
    });
    for (const { text, end, bytes } of letters) {
      const [byNode, byUs] = [await bodyOf(server.url, false), await bodyOf(server.url, true)];
      const head = bytes.toString("latin1", 0, 160);
      assert.equal(byNode.text, text, head);
      assert.deepEqual([byUs.text, byUs.end], [text, end], head);
    }
  });

  it("end where an answer makes no sense, and tell nothing of what follows", async (t) => {
    const broken = [
      "x\r\nno\r\n",
      "2\r\nabc\r\n",
      "2\nab\r\n",
      "-1\r\na\r\n",
      "100000000\r\n",
      "\r\n",
      "2 \r\n",
      "2;a\rb\r\n",
    ];
    const long = `3;${"x".repeat(5_000)}`;
    const server = await startByteServer(t, (socket, index) => {
      socket.write(`${chunkedHead}3\r\nabc\r\n${[...broken, long][index]}2\r\nzz\r\n0\r\n\r\n`);
    });
    for (const piece of [...broken, long]) {
      const { text, end } = await bodyOf(server.url, true);
      // Of a chunk that is longer than it says, what it says was told already.
      assert.deepEqual([text.slice(0, 3), text.includes("z"), end], ["abc", false, "close"], piece.slice(0, 20));
    }
  });

  it("keep what they were given while others read on", async (t) => {
    const sent = Array.from({ length: 4 }, (_, number) => Buffer.alloc(9_000, `piece ${number} `));
    let go: () => void = () => {};
    const server = await startByteServer(t, (socket) => {
      socket.write(Buffer.concat([Buffer.from(chunkedHead), chunkOf(sent[0]!)]));
      const rest = sent.slice(1).values();
      go = () => void socket.write(chunkOf(rest.next().value!));
    });
    const request = { method: "GET", headers: {}, isHeld: true } as const;
    const { response, body } = await send(new URL(server.url), request, new AbortController().signal);
    // Before anybody listens, too.
    const other = await startByteServer(t, (socket) => void socket.end(`${streamHead}${"x".repeat(20_000)}`));
    assert.equal((await bodyOf(other.url, true)).text.length, 20_000);
    const heard: Buffer[] = [];
    const all = Promise.withResolvers<void>();
    body.listen({
      piece(bytes) {
        heard.push(Buffer.from(bytes));
        if (Buffer.concat(heard).length === 4 * 9_000) all.resolve();
        else if (Buffer.concat(heard).length % 9_000 === 0) go();
      },
      ended: all.resolve,
    });
    await all.promise;
    response.destroy();
    assert.deepEqual(Buffer.concat(heard), Buffer.concat(sent));
  });
});

/** A whole number below that one. */
type Below = (limit: number) => number;

function belowFrom(random: () => number): Below {
  return (limit) => Math.floor(random() * limit);
}

interface AnswerOfLetters {
  readonly bytes: Buffer;
  readonly text: string;
  readonly end: "ended" | "end" | "close";
}

/** An answer whose body is framed in one of the three ways, in chunks of any length, behind heads of any kind. */
function answerOfLetters(below: Below, place: number): AnswerOfLetters {
  const pieces = Array.from({ length: below(12) }, (_, piece) => `${piece}é${"ab\r\n".repeat(below(3_000))}`);
  const text = pieces.join("");
  const early = place % 5 === 0 ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  const headers = `Content-Type: text/event-stream\r\nX-Odd: \t${"x".repeat(below(300))}\r\n`;
  const head = (framing: string) => `${early}HTTP/1.1 200 OK\r\n${headers}${framing}\r\n`;
  if (place % 4 === 0) return { bytes: Buffer.from(head("") + text), text, end: "end" };
  if (place % 4 === 1) {
    const length = `Content-Length: ${Buffer.byteLength(text)}\r\n`;
    return { bytes: Buffer.from(head(length) + text), text, end: "end" };
  }
  const written = pieces.map((piece) => {
    const size = Buffer.byteLength(piece).toString(16);
    return `${below(2) === 0 ? size : `00${size.toUpperCase()}`}${below(3) === 0 ? ';a="b"' : ""}\r\n${piece}\r\n`;
  });
  const trailer = below(2) === 0 ? "X-Trailer: 1\r\n" : "";
  const last = `0\r\n${trailer}\r\n`;
  const coding = below(2) === 0 ? "chunked" : "Chunked";
  const bytes = Buffer.from(`${head(`Transfer-Encoding: ${coding}\r\n`)}${written.join("")}${last}`);
  return { bytes, text, end: "ended" };
}

/** A whole body, and how its end was told. */
async function bodyOf(url: string, isHeld: boolean): Promise<{ readonly text: string; readonly end: string }> {
  const { response, body } = await send(
    new URL(url),
    { method: "GET", headers: {}, isHeld },
    new AbortController().signal,
  );
  const pieces: Buffer[] = [];
  const end = await new Promise<string>((resolve) => {
    response.once("end", () => resolve("end")).once("close", () => resolve("close"));
    body.listen({ piece: (bytes) => pieces.push(Buffer.from(bytes)), ended: () => resolve("ended") });
  });
  response.destroy();
  return { text: Buffer.concat(pieces).toString(), end };
}

function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

function named(name: string) {
  return makeDocument({ devices: { thermostats: { t1: makeThermostat({ name }) } } });
}

function nameIn(account: Account): string {
  const sighting = account.thermostats.byId.get("t1");
  return (sighting?.isRead ? sighting.object.name : null) ?? "";
}
