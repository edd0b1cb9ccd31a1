import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { answerOf, hostileAnswers, type RawAnswer, sendRaw, shownFate } from "../raw-answers.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { Tallied } from "../tally.ts";

const messageMs = 12_000;
const redirect = (location: string) =>
  answerOf(`a redirect to ${location}`, "", { status: 307, headers: `location: ${location}\r\n` });
const slowHead: RawAnswer = {
  size: "a head of one byte in 100 ms",
  pieces: () => `HTTP/1.1 200 OK\r\nx: ${"x".repeat(1_000)}\r\n\r\n`,
  everyMs: 100,
};
const switched: RawAnswer = {
  size: "a switch of protocols",
  pieces: () => [
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    "x".repeat(2_000_000),
  ],
};

/** Answers of webhook receivers that no honest one gives. */
export const receiverAnswers: Attack = {
  name: "answers of webhook receivers",
  async run(target, note) {
    const got = new Tallied();
    const { url, devices, accessToken: token } = target;
    const answers = [...hostileAnswers("@"), redirect("/hook"), redirect("http://127.0.0.1:1/"), slowHead, switched];
    // All at once, each to a receiver of its own, so that one slow answer does not delay the others.
    const played = answers.map(async (answer) => {
      await using receiver = await rawReceiver(answer);
      const { status } = await sendRequest(url, { path: "/v3/webhooks", token, json: { url: receiver.url } });
      got.add(`webhook ${status}`);
      await pause(messageMs);
      const { first, connections } = receiver.seen();
      const fate = first
        ? `${shownFate(first)}, ${connections} connections in ${messageMs / 1_000} s`
        : "no message came";
      note({ message: "answer of a receiver", size: answer.size, isTaken: first?.wasCutOff === false, fate });
    });
    await pause(1_000);
    const written = await sendMany(target, { count: 20, atOnce: 4, forMs: 5_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${devices[index % devices.length]}`,
      token,
      json: { power: `${index} ${Date.now()}` },
    }));
    await Promise.all(played);
    for (const [answer, count] of Object.entries(written)) got.add(`write ${answer}`, count);
    return got.tally;
  },
};

async function rawReceiver(answer: RawAnswer) {
  const open = new Set<Socket>();
  const seen: { first?: Awaited<ReturnType<typeof sendRaw>>; connections: number } = { connections: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    open.add(socket);
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
    socket.once("data", async () => {
      const fate = await sendRaw(socket, answer);
      seen.first ??= fate;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    seen: () => seen,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
