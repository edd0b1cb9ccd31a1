import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Breezeway } from "../../sdk/src/index.ts";
import { runCommand } from "../cli/run-command.ts";
import { startChild } from "../stories/child-service.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";

const kills = 2;

describe("events() of a service that is killed", () => {
  it("has no gap and no repetition", {
    timeout: 120_000,
  }, async (t) => {
    const { start, accessToken, lamp } = await house(t);
    let service = await start("0");
    const { port } = new URL(service.baseUrl);
    const client = new Breezeway({ baseUrl: service.baseUrl, accessToken: await accessToken() });
    const received: { readonly id: string; readonly value: unknown }[] = [];
    const controller = new AbortController();
    const opened = Promise.withResolvers<void>();
    let connected = Promise.withResolvers<void>();
    const following = (async () => {
      const onConnected = () => connected.resolve();
      for await (const event of client.events({ signal: controller.signal, heartbeats: true, onConnected })) {
        assert.notEqual(event.type, "resync");
        if (event.type === "heartbeat") opened.resolve();
        if (event.type === "attribute") received.push({ id: event.id, value: event.value });
      }
    })();
    await opened.promise;
    let n = 0;
    const write = async (until: number) => {
      while (n < until) await client.setDeviceAttribute(lamp, "n", n++).catch(() => undefined);
    };
    for (let round = 1; round <= kills; round++) {
      await write(round * 36 - 6);
      // The library repeats each of these writes several times while nothing listens.
      const writing = write(round * 36);
      connected = Promise.withResolvers<void>();
      service.process.kill("SIGKILL");
      await Promise.all([service.ended, writing]);
      service = await start(port);
      // After the last kill the reader reconnects while nothing listens yet.
      if (round < kills) await connected.promise;
    }
    await write(n + 20);
    const committed: unknown[] = [];
    for await (const { value } of client.getHistory(lamp)) committed.push(value);
    while (received.length < committed.length) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await following;
    assert.deepEqual(
      received.map(({ value }) => value),
      committed,
    );
    assert.equal(new Set(received.map(({ id }) => id)).size, received.length);
    assert.ok(committed.length >= kills * 30 + 20);
  });
});

async function house(t: TestContext) {
  const house = await killableDeployment(t, "sqlite");
  const { environment } = house;
  const users = JSON.parse((await runCommand(["user", "list", "--tenant", "Story", "--json"], { environment })).stdout);
  const user = String((users.users ?? users)[0].userId);
  const device = ["device", "add", "--user", user, "--name", "Lamp", "--type", "Lamp", "--json"];
  const lamp: number = JSON.parse((await runCommand(device, { environment })).stdout).deviceId;
  const start = async (port: string) => {
    const service = await startChild("serve", { ...environment, BREEZEWAY_PORT: port });
    t.after(() => service.process.kill("SIGKILL"));
    house.baseUrl = service.baseUrl;
    return service;
  };
  return { start, lamp, accessToken: async () => (await house.authorizeClient()).accessToken };
}
