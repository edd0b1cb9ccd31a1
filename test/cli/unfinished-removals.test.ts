import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { skillSettings } from "../../simulator/alexa/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import { Conflict, OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import type { UserId } from "../../src/model/ids.ts";
import { virtualDeviceType } from "../../src/model/virtual-device-type.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts, type Parts } from "../../src/service/parts.ts";
import { linkOf } from "../contracts/store/home.ts";
import { storeFolderOf } from "./made-folder.ts";

const password = "correct horse";

async function opened(t: TestContext) {
  const environment = { BREEZEWAY_DATA: await storeFolderOf(t) };
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  t.after(() => parts.close());
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer
  const run = (command: string, input: object = {}): Promise<any> => parts.administration.run(command, input);
  await run("tenant add", { name: "Acme", "app-id": "42" });
  /** The entries of one command, oldest first. */
  const entriesOf = async (command: string) =>
    (await parts.identity.audit.list({ limit: 100 }))
      .filter(({ detail }) => detail.command === command)
      .map(({ tenantId, userId, detail: { command: _, ...detail } }) => ({ tenantId, userId, detail }))
      .reverse();
  /** Runs a command. The store fails once, after so many transactions. */
  const runFailing = async (command: string, input: object, count: number): Promise<unknown> => {
    const { store } = parts;
    const transaction = store.transaction.bind(store);
    let left = count;
    const broken = t.mock.method(store, "transaction", ((...call: Parameters<typeof transaction>) =>
      left-- === 0 ? Promise.reject(new StoreUnavailable("It is down.")) : transaction(...call)) as typeof transaction);
    try {
      return await run(command, input).catch((error: unknown) => error);
    } finally {
      broken.mock.restore();
    }
  };
  return { parts, run, runFailing, entriesOf };
}

async function addLink({ store, membership }: Parts, userId: UserId, ecosystem?: string): Promise<void> {
  await store.transaction(async (tx) => {
    const device = await tx.devices.add({ userId, typeName: virtualDeviceType, name: "Home", isVirtual: true });
    const link = linkOf({ userId, devices: [device] } as never, membership.id);
    await tx.links.add({ ...link, ...(ecosystem !== undefined && { ecosystem }) });
  });
}

describe("a removal that ends half-way", () => {
  it("of a tenant leaves an entry for the clients that it removed", async (t) => {
    const { parts, run, entriesOf } = await opened(t);
    const { identity } = parts;
    for (const name of ["Voice", "App"]) {
      await run("client add", { tenant: "Acme", name, "redirect-uri": ["https://voice.example/back"] });
    }
    const { removeTenant } = identity;
    identity.removeTenant = async (tenantId) => {
      // Another administrator adds a user at the same moment.
      await identity.addUser({ tenant: "Acme", name: "eve", password, isAdmin: false });
      return removeTenant(tenantId);
    };
    await assert.rejects(run("tenant remove", { tenant: "Acme" }), Conflict);
    const entry = { tenantId: 42, userId: null };
    const first = { ...entry, detail: { name: "Acme", clients: 2, unfinished: true } };
    assert.deepEqual(await entriesOf("tenant remove"), [first]);
    await assert.rejects(run("tenant remove", { tenant: "Acme" }), Conflict);
    assert.deepEqual(await entriesOf("tenant remove"), [first], "nothing was removed the second time");
  });

  it("of a user leaves an entry for the homes that it unlinked", async (t) => {
    const { parts, run, entriesOf } = await opened(t);
    const { identity } = parts;
    const { userId } = await run("user add", { tenant: "Acme", name: "ada", password });
    await addLink(parts, userId);
    const { removeUser } = identity;
    identity.removeUser = async (...removal) => {
      // The user links a home at the same moment.
      await addLink(parts, userId);
      return removeUser(...removal);
    };
    await assert.rejects(run("user remove", { user: String(userId) }), Conflict);
    const entry = { tenantId: 42, userId };
    assert.deepEqual(await entriesOf("user remove"), [{ ...entry, detail: { links: 1, unfinished: true } }]);
    identity.removeUser = removeUser;
    assert.equal((await run("user remove", { user: String(userId) })).removed.links, 1);
    assert.equal((await entriesOf("user remove")).length, 2);
  });

  it("of a user leaves an entry also when a further home can't be unlinked", async (t) => {
    const { parts, run, entriesOf } = await opened(t);
    const { userId } = await run("user add", { tenant: "Acme", name: "ada", password });
    await addLink(parts, userId);
    const { unlinkAll } = parts.federation;
    parts.federation.unlinkAll = async (of) => {
      await unlinkAll(of);
      throw new Error("the connection was lost");
    };
    await assert.rejects(run("user remove", { user: String(userId) }), /the connection was lost/);
    assert.deepEqual(
      (await entriesOf("user remove")).map(({ detail }) => detail),
      [{ links: 1, unfinished: true }],
    );
  });

  it("of a client says so, and leaves an entry for the suspension", async (t) => {
    const { run, runFailing, entriesOf } = await opened(t);
    const voice = { tenant: "Acme", name: "Voice", "redirect-uri": ["https://voice.example/back"] };
    const { client_id: client } = await run("client add", voice);
    const first = await runFailing("client remove", { client }, 0);
    assert.ok(first instanceof StoreUnavailable && !(first instanceof OutcomeUnknown));
    assert.deepEqual(await entriesOf("client remove"), [], "nothing was changed");
    assert.ok((await runFailing("client remove", { client }, 1)) instanceof OutcomeUnknown);
    const entry = { tenantId: 42, userId: null };
    const unfinished = { ...entry, detail: { name: "Voice", unfinished: true } };
    assert.deepEqual(await entriesOf("client remove"), [unfinished]);
    assert.ok((await runFailing("tenant remove", { tenant: "Acme" }, 1)) instanceof OutcomeUnknown);
    const ofTenant = { ...entry, detail: { name: "Acme", clients: 0, unfinished: true } };
    assert.deepEqual(await entriesOf("tenant remove"), [ofTenant]);
    await run("client remove", { client });
    assert.deepEqual(await entriesOf("client remove"), [
      unfinished,
      { ...entry, detail: { name: "Voice", grants: 0 } },
    ]);
  });

  it("of an outlet says so, and leaves an entry for its client", async (t) => {
    const { run, runFailing, entriesOf } = await opened(t);
    const { outlet } = await run("outlet add", { tenant: "Acme", kind: "alexa", settings: skillSettings });
    const first = await runFailing("outlet remove", { outlet }, 0);
    assert.ok(first instanceof StoreUnavailable && !(first instanceof OutcomeUnknown));
    assert.deepEqual(await entriesOf("outlet remove"), [], "nothing was changed");
    const entry = { tenantId: 42, userId: null, detail: { outlet, kind: "alexa", unfinished: true } };
    assert.ok((await runFailing("outlet remove", { outlet }, 1)) instanceof OutcomeUnknown);
    assert.deepEqual(await entriesOf("outlet remove"), [entry], "the client is suspended");
    assert.ok((await runFailing("outlet remove", { outlet }, 2)) instanceof OutcomeUnknown);
    assert.deepEqual(await entriesOf("outlet remove"), [entry, entry], "the client is removed");
  });

  it("of a tenant says so when a client is gone", async (t) => {
    const { run, runFailing, entriesOf } = await opened(t);
    await run("client add", { tenant: "Acme", name: "Voice", "redirect-uri": ["https://voice.example/back"] });
    assert.ok((await runFailing("tenant remove", { tenant: "Acme" }, 2)) instanceof OutcomeUnknown);
    const detail = { name: "Acme", clients: 1, unfinished: true };
    assert.deepEqual(await entriesOf("tenant remove"), [{ tenantId: 42, userId: null, detail }]);
  });

  it("of a user says so when a home is unlinked", async (t) => {
    const { parts, run, entriesOf } = await opened(t);
    const { identity, federation } = parts;
    const { userId } = await run("user add", { tenant: "Acme", name: "ada", password });
    const { removeUser } = identity;
    identity.removeUser = () => Promise.reject(new StoreUnavailable("It is down."));
    const removal = () => run("user remove", { user: String(userId) }).catch((error: unknown) => error);
    const first = await removal();
    assert.ok(first instanceof StoreUnavailable && !(first instanceof OutcomeUnknown));
    assert.deepEqual(await entriesOf("user remove"), []);
    await addLink(parts, userId);
    assert.ok((await removal()) instanceof OutcomeUnknown);
    const entry = { tenantId: 42, userId, detail: { links: 1, unfinished: true } };
    assert.deepEqual(await entriesOf("user remove"), [entry]);
    identity.removeUser = removeUser;
    for (const ecosystem of ["one", "two"]) await addLink(parts, userId, ecosystem);
    const read = parts.store.read.bind(parts.store);
    let reads = 3;
    const broken = t.mock.method(parts.store, "read", ((...call: Parameters<typeof read>) =>
      reads-- > 0 ? read(...call) : Promise.reject(new StoreUnavailable("It is down."))) as typeof read);
    await assert.rejects(federation.unlinkAll(userId), OutcomeUnknown);
    broken.mock.restore();
    assert.equal((await federation.unlinkAll(userId)).length, 1);
  });

  it("of a user does not mind that another request unlinks the homes too", async (t) => {
    const { parts, run } = await opened(t);
    const { userId } = await run("user add", { tenant: "Acme", name: "ada", password });
    for (const ecosystem of ["one", "two"]) await addLink(parts, userId, ecosystem);
    const { federation } = parts;
    const unlinked = await Promise.all([federation.unlinkAll(userId), federation.unlinkAll(userId)]);
    assert.equal(unlinked.flat().length, 2);
  });
});
