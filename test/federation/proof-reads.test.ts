import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { ProofReads } from "../../src/federation/proof-reads.ts";
import type { Home } from "../../src/home/home.ts";
import { ClientGone, EcosystemUnreachable, InvalidSecToken, TooManyRequests } from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { type LimitName, limits } from "../../src/model/limits.ts";
import { madeFederation } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises } from "./manual-runtime.ts";

const tenantOf = (tenant: number) => tenant as TenantId;
const userOf = (user: number) => user as UserId;

describe("the reads that prove tokens", () => {
  it("are bounded for a user, for a tenant and for the node, and are free again when they end", async () => {
    const reached: LimitName[] = [];
    const proofs = new ProofReads({
      signal: new AbortController().signal,
      onLimitReached: (limit) => void reached.push(limit),
    });
    const { promise, resolve } = Promise.withResolvers<Home>();
    const running: Promise<Home>[] = [];
    const start = (user: number, tenant: number) =>
      proofs.run({ userId: userOf(user), tenantId: tenantOf(tenant) }, () => promise);
    const fill = (user: number, tenant: number) => void running.push(start(user, tenant));
    for (let i = 0; i < limits.proofReadsPerUser; i++) fill(1, 1);
    await assert.rejects(start(1, 1), TooManyRequests);
    for (let user = 2; running.length < limits.proofReadsPerTenant; user++) fill(user, 1);
    await assert.rejects(start(1_000, 1), TooManyRequests);
    for (let user = 2_000; running.length < limits.proofReadsPerNode; user++) fill(user, 2 + (user % 3));
    await assert.rejects(start(9_000, 9), TooManyRequests);
    assert.deepEqual(reached, ["proofReadsPerUser", "proofReadsPerTenant", "proofReadsPerNode"]);
    resolve(home());
    await Promise.all(running);
    await start(1, 1);
  });

  it("end when the client disconnects or the service stops, and count no longer", async () => {
    const stopping = new AbortController();
    const proofs = new ProofReads({ signal: stopping.signal });
    const hanging = (signal: AbortSignal) =>
      new Promise<Home>((_, reject) => {
        const fail = () => reject(new EcosystemUnreachable("No answer."));
        if (signal.aborted) fail();
        signal.addEventListener("abort", fail);
      });
    for (let i = 0; i < 3 * limits.proofReadsPerUser; i++) {
      const client = new AbortController();
      const caller = { userId: userOf(1), tenantId: tenantOf(1), disconnected: client.signal };
      const read = proofs.run(caller, hanging);
      client.abort();
      await assert.rejects(read, ClientGone);
    }
    const read = proofs.run({ userId: userOf(1), tenantId: tenantOf(1) }, hanging);
    stopping.abort();
    await assert.rejects(read, EcosystemUnreachable);
  });

  it("leave no connection to a hanging ecosystem open when their clients have disconnected", async (t) => {
    const { open, connector } = await hangingEcosystem(t);
    const proofs = new ProofReads({ signal: new AbortController().signal });
    const client = new AbortController();
    const caller = { userId: userOf(1), tenantId: tenantOf(1), disconnected: client.signal };
    const outcomes = Array.from({ length: 50 }, (_, i) =>
      proofs.run(caller, (signal) => connector.read(`c.junk${i}`, signal)).catch((error: unknown) => error),
    );
    while (open.size < limits.proofReadsPerUser) await new Promise((resolve) => setTimeout(resolve, 5));
    client.abort();
    const errors = await Promise.all(outcomes);
    assert.equal(errors.filter((error) => error instanceof TooManyRequests).length, 50 - limits.proofReadsPerUser);
    assert.equal(errors.filter((error) => error instanceof ClientGone).length, limits.proofReadsPerUser);
    while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

describe("a call to link", () => {
  it("beyond the user's bound is refused before the ecosystem is asked, and so is one to replace the token", async (t) => {
    const { federation, connector, linkLive, userId } = await madeFederation(t);
    await linkLive();
    const reads = connector.reads.length;
    const calls = Array.from({ length: 50 }, () =>
      federation.relink(userId, "nest", "c.token").catch((error: unknown) => error),
    );
    while (connector.reads.length < reads + limits.proofReadsPerUser) await flushPromises();
    for (const read of connector.reads.slice(reads)) read.resolve(home());
    const outcomes = await Promise.all(calls);
    assert.equal(connector.reads.length, reads + limits.proofReadsPerUser);
    assert.equal(
      outcomes.filter((outcome) => outcome instanceof TooManyRequests).length,
      50 - limits.proofReadsPerUser,
    );
  });

  it("is stored though the client disconnects after the read", async (t) => {
    const { federation, connector, userId } = await madeFederation(t);
    const client = new AbortController();
    const linked = federation.link(userId, "nest", "c.token", undefined, { disconnected: client.signal });
    while (connector.reads.length === 0) await flushPromises();
    connector.lastRead.resolve(home());
    await Promise.resolve();
    client.abort();
    const deviceId = await linked;
    assert.equal((await federation.status(userId, "nest")).deviceId, deviceId);
  });

  it("of a user who is removed during the read has an invalid security token", async (t) => {
    const { federation, connector, store, userId } = await madeFederation(t);
    const linked = federation.link(userId, "nest", "c.token");
    while (connector.reads.length === 0) await flushPromises();
    await store.transaction(async (tx) => {
      for (const { id } of await tx.devices.ofUser(userId)) await tx.devices.remove(userId, id);
      await tx.users.remove(userId);
    });
    connector.lastRead.resolve(home());
    await assert.rejects(linked, InvalidSecToken);
    await assert.rejects(federation.link(userId, "nest", "c.token"), InvalidSecToken);
  });
});

/** Accepts connections and never answers. */
async function hangingEcosystem(t: TestContext) {
  const open = new Set<unknown>();
  const server = http.createServer(() => undefined);
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { open, connector: nestConnector({ name: "nest", apiUrl, allowedHosts: [new URL(apiUrl).host] }) };
}
