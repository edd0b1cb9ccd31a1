import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { nestConnector } from "../../src/ecosystem/nest/connector.ts";
import { send } from "../../src/ecosystem/nest/request.ts";
import type { Account } from "../../src/model/account.ts";
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

  it("keep what they were given while others read on", async (t) => {
    const sent = Array.from({ length: 4 }, (_, number) => Buffer.alloc(9_000, `piece ${number} `));
    let go: () => void = () => {};
    const server = await startByteServer(t, (socket) => {
      socket.write(Buffer.concat([Buffer.from(chunkedHead), chunkOf(sent[0]!)]));
      const rest = sent.slice(1).values();
      go = () => void socket.write(chunkOf(rest.next().value!));
    });
    const request = { method: "GET", headers: {}, isHeld: true } as const;
    const response = await send(new URL(server.url), request, new AbortController().signal);
    const heard: Buffer[] = [];
    for await (const chunk of response) {
      heard.push(chunk);
      if (Buffer.concat(heard).length === 4 * 9_000) break;
      if (Buffer.concat(heard).length % 9_000 === 0) go();
    }
    assert.deepEqual(Buffer.concat(heard), Buffer.concat(sent));
  });
});

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
