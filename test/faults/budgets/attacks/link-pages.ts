import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { LinkPage } from "../link-page.ts";
import { shownAnswer, shownFailure } from "../requests.ts";
import { Tallied } from "../tally.ts";

const forms = 1_200;
const longestMs = 20_000;

/** One link page, whose form is sent 1,200 times with an address that accepts connections and never answers. */
export const linkPages: Attack = {
  name: "connections of a link page",
  async run(target, note) {
    const got = new Tallied();
    const open = new Set<Socket>();
    let [opened, mostOpen] = [0, 0];
    const server = createServer((socket) => {
      opened += 1;
      open.add(socket);
      mostOpen = Math.max(mostOpen, open.size);
      socket.on("error", () => undefined).resume();
      socket.once("close", () => open.delete(socket));
    });
    server.listen(0, "127.0.0.1", 2_048);
    await once(server, "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = await LinkPage.open(target, { mode: "link" });
    const sent = Array.from({ length: forms }, async () => {
      got.add(await page.submit(address).then(shownAnswer, shownFailure));
    });
    await Promise.race([Promise.all(sent), pause(longestMs)]);
    got.add("connections opened", opened);
    got.add("connections open at once", mostOpen);
    const fate = `${opened} connections, ${mostOpen} at once`;
    note({ message: "address typed on a link page", size: `${forms} forms at once`, isTaken: opened >= forms, fate });
    for (const socket of open) socket.destroy();
    server.close();
    await Promise.race([Promise.all(sent), pause(2_000)]);
    return got.tally;
  },
  judge({ got }) {
    const most = got["connections open at once"] ?? 0;
    assert.ok(most <= 2, `${most} connections to one address were open at once`);
  },
};
