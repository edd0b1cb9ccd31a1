import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeId, TenantId } from "../../src/model/ids.ts";
import type { NodeQuestions } from "../../src/nodes/node-questions.ts";
import { defaultQuotas } from "../../src/quotas/quota-kinds.ts";
import { QuotaSettings } from "../../src/quotas/quota-settings.ts";
import { quotaUse } from "../../src/quotas/quota-use.ts";
import type { QuotaRow, QuotaTable } from "../../src/store/tables/quotas.ts";
import { gate } from "../contracts/store/home.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";

const acme = { tenantId: 1 as TenantId, clientId: null };
const voice = { tenantId: 1 as TenantId, clientId: "bwc_voice" };

/** Settings on a list of rows; `held` delays reads, `isDown` lets them fail. */
function made({ isShared = false, rows = [] as QuotaRow[] } = {}) {
  const runtime = manualRuntime();
  const state = { rows, reads: 0, isDown: false, held: Promise.resolve() };
  const isOf = (owner: Pick<QuotaRow, "tenantId" | "clientId">) => (row: QuotaRow) =>
    row.tenantId === owner.tenantId && row.clientId === owner.clientId;
  const isSame = (quota: Omit<QuotaRow, "value">) => (row: QuotaRow) => isOf(quota)(row) && row.kind === quota.kind;
  const quotas: QuotaTable = {
    async all() {
      state.reads += 1;
      const seen = state.rows;
      await state.held;
      if (state.isDown) throw new Error("down");
      return seen;
    },
    of: async (owner) => state.rows.filter(isOf(owner)),
    async set(quota) {
      state.rows = [...state.rows.filter((row) => !isSame(quota)(row)), quota];
    },
    async reset(owner, kind) {
      state.rows = state.rows.filter((row) => !isSame({ ...owner, kind })(row));
    },
  };
  type Body<Result> = (tx: { quotas: QuotaTable }) => Promise<Result>;
  const run = <Result>(body: Body<Result>) => body({ quotas });
  return { settings: new QuotaSettings({ store: { isShared, read: run, transaction: run }, runtime }), state, runtime };
}

describe("the quotas that operators have set", () => {
  it("are divided by the live nodes, down to 1; defaults are not", async () => {
    const { settings } = made({
      rows: [
        { ...voice, kind: "openStreams", value: 11 },
        { ...voice, kind: "commandsPerMinute", value: 2 },
      ],
    });
    await settings.start();
    const of = (openStreams: number, commandsPerMinute: number) => ({
      ...defaultQuotas("client"),
      openStreams,
      commandsPerMinute,
    });
    assert.deepEqual(settings.valuesOf(voice, 1), of(11, 2));
    assert.deepEqual(settings.valuesOf(voice, 3), of(3, 1));
    assert.deepEqual(await settings.stored(voice), { openStreams: 11, commandsPerMinute: 2 });
    assert.deepEqual(settings.valuesOf(acme, 3), defaultQuotas("tenant"));
  });

  it("take the place of the defaults, each for its owner alone", async () => {
    const { settings } = made({
      rows: [
        { ...acme, kind: "requestsPerMinute", value: 500 },
        { ...voice, kind: "openStreams", value: 2 },
        { ...voice, kind: "commandsPerMinute", value: 3 },
        { ...voice, kind: "of a later version", value: 4 },
      ],
    });
    assert.deepEqual(settings.valuesOf(acme), defaultQuotas("tenant"));
    await settings.start();
    assert.deepEqual(settings.valuesOf(acme), { ...defaultQuotas("tenant"), requestsPerMinute: 500 });
    const ofVoice = { openStreams: 2, commandsPerMinute: 3 };
    assert.deepEqual(settings.valuesOf(voice), { ...defaultQuotas("client"), ...ofVoice });
    assert.deepEqual(await settings.stored(voice), ofVoice);
    const other = { ...voice, tenantId: 2 as TenantId };
    assert.deepEqual(settings.valuesOf(other), defaultQuotas("client"));
  });

  it("are changed and reset one by one, and used at once", async () => {
    const { settings } = made();
    await settings.start();
    const before = settings.version;
    await settings.change(voice, { openStreams: 2, commandsPerMinute: 3 });
    assert.ok(settings.version > before, "callers notice the change");
    await settings.change(voice, { openStreams: null, requestsPerMinute: 9 });
    const expected = { commandsPerMinute: 3, requestsPerMinute: 9 };
    assert.deepEqual(await settings.stored(voice), expected);
    assert.deepEqual(settings.valuesOf(voice), { ...defaultQuotas("client"), ...expected });
  });

  it("are used at once, also when a reading from before the change is on its way", async () => {
    const { settings, state } = made();
    await settings.start();
    const held = gate();
    state.held = held.opened;
    settings.hinted();
    const changed = settings.change(voice, { openStreams: 2 });
    await flushPromises();
    held.open();
    await changed;
    assert.equal(settings.valuesOf(voice).openStreams, 2);
  });

  it("stay as they were read when the store fails, which is reported", async () => {
    const { settings, state, runtime } = made({ rows: [{ ...voice, kind: "openStreams", value: 2 }] });
    await settings.start();
    const { version } = settings;
    state.isDown = true;
    settings.hinted();
    await flushPromises();
    assert.equal(settings.valuesOf(voice).openStreams, 2);
    assert.equal(settings.version, version);
    assert.equal(runtime.logLines.length, 1);
    state.isDown = false;
    settings.hinted();
    await flushPromises();
    state.isDown = true;
    settings.hinted();
    await flushPromises();
    assert.equal(runtime.logLines.length, 2, "a failure after a success is a new one");
  });

  it("are read again every two seconds on a shared store, until the node stops", async () => {
    const { settings, state, runtime } = made({ isShared: true });
    await settings.start();
    assert.equal(state.reads, 1);
    await runtime.advance(1_999);
    assert.equal(state.reads, 1);
    await runtime.advance(1);
    assert.equal(state.reads, 2);
    await runtime.advance(2_000);
    assert.equal(state.reads, 3);
    await settings.stop();
    settings.hinted();
    await runtime.advance(10_000);
    assert.deepEqual([state.reads, runtime.timers], [3, 0]);

    const alone = made();
    await alone.settings.start();
    assert.equal(alone.runtime.timers, 0, "no other node can change the store of a single one");
    await alone.settings.stop();
  });

  it("are no longer read when the node has stopped", async () => {
    const { settings, state, runtime } = made({ isShared: true });
    await settings.start();
    const held = gate();
    state.held = held.opened;
    await runtime.advance(2_000);
    let isStopped = false;
    const stopping = settings.stop().then(() => {
      isStopped = true;
    });
    await flushPromises();
    assert.equal(isStopped, false, "a reading on its way is awaited");
    held.open();
    await stopping;
    await flushPromises();
    assert.equal(runtime.timers, 0);
  });
});

describe("the use of quotas over all nodes", () => {
  it("is asked of each node for one owner, and names the silent ones", async () => {
    const used = { requestsPerMinute: 1, openStreams: 2, commandsPerMinute: 3 };
    const asked: unknown[] = [];
    let answer: (question: string) => string = () => assert.fail("no answer is registered");
    let topic = "";
    const nodes: Pick<NodeQuestions, "onQuestion" | "ask"> = {
      onQuestion(name, answering) {
        topic = name;
        answer = answering;
      },
      async ask(name, question) {
        assert.equal(name, topic);
        const answers = new Map(["a", "b"].map((node) => [node as NodeId, answer(question)]));
        return { answers, silentNodes: ["c" as NodeId] };
      },
    };
    const useOf = (owner: object) => {
      asked.push(owner);
      return used;
    };
    const find = quotaUse({ useOf }, nodes as NodeQuestions);
    assert.notEqual(topic, "");
    assert.deepEqual(await find({ ...voice, more: "no part of the question" } as typeof voice), {
      nodes: [
        { node: "a", ...used },
        { node: "b", ...used },
      ],
      silentNodes: ["c"],
    });
    assert.deepEqual(asked, [voice, voice]);
  });
});
