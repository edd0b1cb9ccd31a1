import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { Tallied } from "../tally.ts";

const messages = 300;
const watchedMs = 20_000;

/** A receiver that answers 200 and never ends its body, and one that never answers, with 300 messages each. */
export const receivers: Attack = {
  name: "receivers that hold on",
  async run(target) {
    const { url, devices, accessToken: token } = target;
    await using endless = await holdingReceiver((response) => response.writeHead(200).write("and"));
    await using silent = await holdingReceiver(() => undefined);
    const got = new Tallied();
    for (const { address } of [endless, silent]) {
      const { status } = await sendRequest(url, { path: "/v3/webhooks", token, json: { url: address } });
      got.add(`webhook ${status}`);
    }
    const written = await sendMany(target, { count: messages, atOnce: 8, forMs: 30_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${devices[index % devices.length]}`,
      token,
      json: { power: `${index}` },
    }));
    for (const [answer, count] of Object.entries(written)) got.add(`write ${answer}`, count);
    await pause(watchedMs);
    got.add("messages at the endless receiver", endless.received());
    got.add("messages at the silent receiver", silent.received());
    got.add("most sockets at the endless receiver", endless.mostOpen());
    got.add("most sockets at the silent receiver", silent.mostOpen());
    return got.tally;
  },
  judge({ got }) {
    for (const kind of ["endless", "silent"]) {
      const most = got[`most sockets at the ${kind} receiver`] ?? 0;
      assert.ok(most <= 10, `${most} sockets were open to the ${kind} receiver at once`);
    }
    assert.ok((got["messages at the endless receiver"] ?? 0) >= messages, "a status is enough to have been delivered");
  },
};

async function holdingReceiver(answer: (response: ServerResponse) => void) {
  let received = 0;
  let mostOpen = 0;
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    request.on("error", () => undefined).resume();
    request.on("end", () => {
      received += 1;
      answer(response);
    });
  });
  server.on("connection", (socket) => {
    open.add(socket);
    mostOpen = Math.max(mostOpen, open.size);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: () => received,
    mostOpen: () => mostOpen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
