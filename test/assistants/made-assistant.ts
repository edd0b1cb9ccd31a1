import assert from "node:assert/strict";
import type { AssistantMessage, DueReport, Outcome } from "../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../src/assistants/current-thing.ts";
import { feedMarks } from "../../src/assistants/reporter/feeder.ts";
import { reportTimes } from "../../src/assistants/reporter/report-times.ts";
import type { SendingParts } from "../../src/assistants/reporter/sending.ts";
import { thingEntry } from "../../src/devices/log-entries.ts";
import type { ThingChange } from "../../src/devices/thing-writes.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { grantOf } from "../contracts/store/assistant-table-cases.ts";
import { makeHome } from "../contracts/store/home.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";

export const stillGoing = new AbortController().signal;
export const taken: Outcome = { result: "taken", status: 200 };
export const down: Outcome = { result: "retry", status: 503, text: "down" };
const cause = { by: "ecosystem", ecosystem: "nest" } as const;

type Deliver = (message: AssistantMessage) => Promise<Outcome>;

/** A user who has linked an outlet of a made assistant: one message a thing, as `deliver` answers it. */
export async function linked(store: OpenStore, deliver: Deliver = async () => taken) {
  const home = await makeHome(store);
  const key = await grantOf(store, home);
  await store.transaction(async (tx) => {
    const feed = await tx.assistantMarks.lockFeed();
    await tx.assistantMarks.setFeed({ ...feed, epoch: (await tx.logEpoch.current()).name });
  });
  const runtime = manualRuntime();
  const sent: string[] = [];
  const replies: string[] = [];
  const stale: DeviceId[] = [];
  const things = new Map(["t_a", "t_b"].map((thingId) => [thingId, thingOf(thingId, home.devices[0]!)]));
  const assistant = {
    messages: (due: DueReport) => [...due.replies.map(replyOf), ...due.things.map(messageOf)],
    deliver: async (message: AssistantMessage) => {
      const outcome = await deliver(message);
      if (outcome.result !== "taken") return outcome;
      if (message.replies) replies.push(message.type);
      else sent.push(...message.thingIds.map((id) => `${id} ${message.type}`));
      return outcome;
    },
  };
  const parts = {
    store,
    runtime,
    outlets: { find: async () => ({ assistant, settings: {} }) },
    sealing: { seal: (text: string) => text, open: (text: string) => text },
    homes: { all: async () => [...things.values()], some: async () => things },
    control: { receipt: async () => assert.fail("no command was sent") },
    staleLinks: async () => new Map([[home.userId, stale]]),
  } as unknown as SendingParts;
  const feed = () => feedMarks(store, {});
  const log = (...changes: readonly ThingChange[]) =>
    store.transaction((tx) => tx.log.append(thingEntry(home.userId, home.devices[0]!, 7, changes, cause)));
  const grant = () => store.read((tx) => tx.assistantGrants.find(key));
  const dueNow = () =>
    store.transaction(async (tx) => {
      await tx.assistantGrants.wakeAt(key, 1);
      await tx.assistantGrants.wakeResumed(key, 1);
    });
  const marks = (afterMs = 0) =>
    store.read(async (tx) => tx.assistantMarks.due(key, (await tx.clock.nowMs()) + afterMs, 100));
  /** The claim of a node that has died is over, and another node takes the grant. */
  const claimEnds = () =>
    store.transaction(async (tx) => {
      const laterMs = (await tx.clock.nowMs()) + reportTimes.claimMs;
      const claimed = (await tx.assistantGrants.claim(key, laterMs, laterMs))!;
      const { attempts, problem, reportedMs, staleDevices } = claimed;
      await tx.assistantGrants.release(claimed, { attempts, problem, reportedMs, staleDevices });
    });
  return { home, key, parts, runtime, sent, replies, stale, things, feed, log, grant, marks, dueNow, claimEnds };
}

function messageOf({ thingId, current, wantsSync, rises }: DueReport["things"][number]): AssistantMessage {
  const type = [wantsSync ? "sync" : "state", ...rises.map(({ state }) => state)].join(" ");
  return { type, thingIds: [thingId], tells: { state: true, sync: wantsSync }, body: { name: current?.name } };
}

function replyOf({ thingId, reply, receipt }: DueReport["replies"][number]): AssistantMessage {
  const type = receipt?.state ?? "without an outcome";
  return { type, thingIds: [thingId], tells: { state: false, sync: false }, replies: [reply], body: {} };
}

function thingOf(thingId: string, deviceId: DeviceId): CurrentThing {
  return { thingId, deviceId, goneMs: null, isStale: false } as CurrentThing;
}

export const changed = (thingId: string, what: ThingChange["what"] = "state"): ThingChange => ({
  thingId,
  what,
  fields: [],
});
export const alarmed = (thingId: string, value = "alarm"): ThingChange => ({
  thingId,
  what: "state",
  fields: [{ trait: "smoke", field: "state", value }],
});
