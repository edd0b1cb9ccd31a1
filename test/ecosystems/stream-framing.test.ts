import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import type { Home } from "../../src/home/home.ts";
import { putFrame, startByteServer, streamHead } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeDocument, makeThermostat } from "./made-documents.ts";

const chunkedHead = streamHead.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n");

describe("the events of a Nest stream", () => {
  const put = putFrame(named("ردهة 🏠 é"));
  const pretty = `event: put\n${JSON.stringify({ path: "/", data: named("ردهة 🏠 é") }, null, 1).replace(/^/gm, "data: ")}\n\n`;
  const framings: readonly (readonly [how: string, text: string])[] = [
    ["with lines that end in LF", put],
    ["with lines that end in CR", put.replaceAll("\n", "\r")],
    ["with lines that end in CRLF", put.replaceAll("\n", "\r\n")],
    ["with a mixture of line ends", put.replace("\n", "\r\n").replace(/\n\n$/, "\r\n\n")],
    ["behind a byte order mark", `\ufeff${put}`],
    ["with data on several lines", pretty],
    ["with comments and unknown fields", `: hello\nid: 7\nretry: 1\nevents: x\n${put.replace("\n", "\n:\n")}`],
    ["without a space after the colon", put.replace("event: ", "event:").replace("data: ", "data:")],
  ];
  for (const [how, text] of framings) {
    it(`are read ${how}, in one piece and byte by byte`, async (t) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(await namesReceived(t, [bytes]), ["ردهة 🏠 é"]);
      assert.deepEqual(
        await namesReceived(
          t,
          Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
        ),
        ["ردهة 🏠 é"],
      );
    });
  }

  it("are not mixed up between streams, wherever their bytes are cut", async (t) => {
    const [streams, puts] = [8, 12];
    const server = await startByteServer(t, (socket, index) => void talk(socket, index));
    const talk = async (socket: Socket, index: number) => {
      socket.setNoDelay(true).write(chunkedHead);
      for (let number = 0; number < puts; number++) {
        const bytes = Buffer.from(putFrame(named(`stream ${index}, put ${number}, ${"é🏡".repeat(20 + index)}`)));
        // After the data, so that only the blank line is left; or within a name or a character.
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
      assert.deepEqual(
        heard.map((account) => nameIn(account as Home)),
        Array.from({ length: puts }, (_, number) => `stream ${asked}, put ${number}, ${"é🏡".repeat(20 + asked)}`),
      );
      stop();
      await ended;
    }
  });

  it("are all read in order after back-pressure", async (t) => {
    const puts = 150;
    const wheres = Object.fromEntries(Array.from({ length: 400 }, (_, number) => [`where ${number}`, { number }]));
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
      heard.map((account) => nameIn(account as Home)),
      frames.map((_, number) => `put ${number}`),
    );
    stop();
    await ended;
  });
});

/** The thermostat's name in each account of a stream with these pieces. */
async function namesReceived(t: TestContext, pieces: readonly Buffer[]): Promise<string[]> {
  const server = await startByteServer(t, (socket) => {
    socket.setNoDelay(true).write(streamHead);
    void (async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await nextTurn();
      }
      socket.end();
    })();
  });
  const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
  const { heard, ended } = listen(connector, "token");
  await ended;
  return heard.map((account) => nameIn(account as Home));
}

function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

function named(name: string) {
  return makeDocument({ devices: { thermostats: { t1: makeThermostat({ name }) } } });
}

function nameIn(account: Home): string {
  const sighting = account.thermostats.byId.get("t1");
  return (sighting?.isRead ? sighting.object.name : null) ?? "";
}
