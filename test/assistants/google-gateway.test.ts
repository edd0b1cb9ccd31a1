import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import type { Fault } from "../../simulator/google-home/home-graph-answers.ts";
import type { AssistantMessage, Outcome } from "../../src/assistants/assistant.ts";
import { googleHome } from "../../src/assistants/google-home/assistant.ts";
import { readGoogleSettings } from "../../src/assistants/google-home/settings.ts";
import type { MakerAnswer, MakerCall } from "../../src/assistants/maker-call.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { rounds } from "../set-up/extent.ts";
import { type Deployment, databases, eventually } from "../stories/world.ts";
import { ownHomeAtGoogle } from "./google-own-home.ts";
import type { Json } from "./google-world.ts";

const answered = (status: number, document: object = {}, headers = {}): MakerAnswer => ({
  isAnswered: true,
  status,
  document: document as Readonly<Record<string, unknown>>,
  headers,
});
const refused = (status: number, name: string, headers = {}) =>
  answered(status, { error: { code: status, message: "secret words", status: name } }, headers);
const noAnswer: MakerAnswer = { isAnswered: false, detail: "no answer in time" };
const issued = answered(200, { access_token: "ya29.one", expires_in: 3_599 });
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const settings = readGoogleSettings({
  "project-id": "hearth-hollow",
  "service-account": JSON.stringify({
    client_email: "reports@hearth-hollow.example",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  }),
});
const message: AssistantMessage = {
  type: "reportStateAndNotification",
  thingIds: ["t_1"],
  tells: { state: true, sync: false },
  body: { agentUserId: "a_1" },
};

/** Delivers the message while Google gives these answers, in this order. */
async function deliver(answers: readonly MakerAnswer[], sent = message) {
  const waiting = [...answers];
  const calls: MakerCall[] = [];
  const call = async (one: MakerCall) => {
    calls.push(one);
    return waiting.shift() ?? assert.fail("a call too many");
  };
  const { deliver } = googleHome({ call, runtime: manualRuntime(), newUuid: () => "u" });
  const to = { outletId: "o", settings, agentUserId: "a_1", region: null, credential: undefined };
  const outcome = await deliver(sent, { ...to, keepCredential: async () => true }, new AbortController().signal);
  assert.equal(waiting.length, 0, "an answer was not used");
  return { outcome, paths: calls.map(({ url }) => url.replace(/^.*[/:]/, "")) };
}

describe("a message to Home Graph", () => {
  const table: readonly (readonly [string, readonly MakerAnswer[], Outcome["result"], number | undefined])[] = [
    ["accepted", [answered(200)], "taken", undefined],
    ["a malformed message", [refused(400, "INVALID_ARGUMENT")], "refused", undefined],
    ["a token that ended", [refused(401, "UNAUTHENTICATED"), issued, answered(200)], "taken", undefined],
    [
      "tokens that all end",
      [refused(401, "UNAUTHENTICATED"), issued, refused(401, "UNAUTHENTICATED")],
      "retry",
      undefined,
    ],
    ["an API that is not enabled", [refused(403, "SERVICE_DISABLED")], "retry", undefined],
    ["an account without the right", [refused(403, "PERMISSION_DENIED")], "retry", undefined],
    ["an unknown user", [refused(404, "NOT_FOUND"), refused(404, "NOT_FOUND")], "forget", undefined],
    ["an unknown device", [refused(404, "NOT_FOUND"), answered(200)], "retry", 3_000],
    ["an unknown device or user, and then no answer", [refused(404, "NOT_FOUND"), noAnswer], "retry", undefined],
    ["a message that is too large", [refused(413, "OUT_OF_RANGE")], "refused", undefined],
    ["throttling", [refused(429, "RESOURCE_EXHAUSTED")], "retry", undefined],
    ["throttling with a time", [refused(429, "RESOURCE_EXHAUSTED", { "retry-after": "7" })], "retry", 7_000],
    [
      "throttling with an unreadable time",
      [refused(429, "RESOURCE_EXHAUSTED", { "retry-after": "soon" })],
      "retry",
      undefined,
    ],
    ["an internal error", [refused(500, "INTERNAL")], "retry", undefined],
    ["an outage with a time", [refused(503, "UNAVAILABLE", { "retry-after": "30" })], "retry", 30_000],
    ["no answer", [noAnswer], "retry", undefined],
  ];
  for (const [name, answers, result, afterMs] of table) {
    it(`has the outcome that the answer means: ${name}`, async () => {
      const { outcome } = await deliver([issued, ...answers]);
      assert.equal(outcome.result, result);
      assert.equal("afterMs" in outcome ? outcome.afterMs : undefined, afterMs);
      assert.doesNotMatch(JSON.stringify(outcome), /secret words|ya29/);
    });
  }

  it("is kept while the service account gets no token", async () => {
    for (const answer of [noAnswer, answered(400, { error: "invalid_grant" }), answered(503), answered(200)]) {
      const { outcome, paths } = await deliver([answer]);
      assert.deepEqual([outcome.result, outcome.status, paths], ["retry", null, ["token"]]);
    }
  });

  it("that asks for a SYNC ends the link when Google does not know the user", async () => {
    const asks = { ...message, type: "requestSync" };
    const { outcome, paths } = await deliver([issued, refused(404, "NOT_FOUND")], asks);
    assert.deepEqual([outcome.result, paths], ["forget", ["token", "requestSync"]]);
  });
});

/** Faults that pass, with the status that a delivery shows. */
const passing: readonly (readonly [string, Fault, number | null])[] = [
  ["is down", { isDown: true }, null],
  ["does not answer", { isSilent: true }, null],
  ["answers 429", { status: 429, retryAfterSeconds: 1 }, 429],
  ["answers 403", { status: 403 }, 403],
  ["answers 500", { status: 500 }, 500],
  ["answers 503", { status: 503 }, 503],
];

describe("a Home Graph with faults", () => {
  it("is told each alarm when it works again, and every attempt is a delivery", {
    timeout: 240_000,
  }, async (t) => {
    const { company, graph, user, alarm, deliveries, shown, isReported } = await ownHomeAtGoogle(t, { clockSpeed: 6 });
    const method = "reportStateAndNotification";
    let notified = 0;
    for (const [name, fault, status] of passing.slice(0, rounds({ all: passing.length, few: 3 }))) {
      const heal = graph.inject({ method, ...fault });
      const known = (await deliveries()).length;
      await company.write(alarm.deviceId, { smoke: "alarm" });
      await eventually(t.signal, async () => {
        const all = await deliveries();
        // None is known when the first report was taken, and is not stored yet.
        const made = all.slice(0, all.length - known);
        const failed = made.filter((one) => one.outcome === "retry" && one.status === status);
        assert.ok(failed.length >= 2, `Home Graph ${name}`);
        for (const { thingIds } of failed) assert.deepEqual(thingIds, [alarm.id]);
      });
      assert.equal(user.notifications.length, notified, "nothing was taken");
      const { problem, waits } = await shown();
      assert.ok(problem && waits, `${problem}`);
      heal();
      await eventually(t.signal, async () => assert.ok(user.notifications.length > notified));
      await company.write(alarm.deviceId, { smoke: "clear" });
      await isReported();
      await eventually(t.signal, async () => assert.equal((await shown()).problem, null));
      // A report whose answer came too late is sent again: at least once, not exactly once.
      notified = user.notifications.length;
    }
  });

  const ends = "that refuses a report for good hears the next one, and one that does not know the user hears nothing";
  const endsOn = (database: Deployment) => async (t: TestContext) => {
    const { story, company, graph, user, alarm, outlet, deliveries, isReported } = await ownHomeAtGoogle(t, {
      database,
    });
    const grants = () => story.service.parts.assistants.grants.countOfOutlet(outlet);
    const newest = async (): Promise<Json> => (await deliveries())[0];
    for (const status of [400, 413]) {
      graph.inject({ method: "reportStateAndNotification", status, times: 1 });
      await company.write(alarm.deviceId, { smoke: "alarm" });
      await eventually(t.signal, async () => {
        const { outcome, status: shown } = await newest();
        assert.deepEqual([outcome, shown], ["refused", status]);
      });
      await company.write(alarm.deviceId, { smoke: "clear" });
      await eventually(t.signal, async () => assert.equal((await newest()).outcome, "taken"));
      await isReported();
    }
    graph.users.delete(user.agentUserId);
    await company.write(alarm.deviceId, { smoke: "alarm" });
    await eventually(t.signal, async () => assert.equal(await grants(), 0));
    const { outcome, status } = await newest();
    assert.deepEqual([outcome, status], ["forgotten", 404]);
    const sent = graph.received.length;
    await company.write(alarm.deviceId, { smoke: "clear" });
    await story.service.parts.assistants.reporter.sweep(t.signal);
    assert.equal(graph.received.length, sent, "nothing is sent about a user whom Google does not know");
  };
  for (const database of databases) it(`${ends}, on ${database}`, endsOn(database));
});

describe("a command of Google to a slow device", () => {
  it("is pending, and what became of it is reported as a state", { timeout: 120_000 }, async (t) => {
    const { company, google, user, lamp, deliveries, isReported } = await ownHomeAtGoogle(t, { clockSpeed: 10 });
    const pending = { ids: [lamp.id], status: "PENDING" };
    assert.deepEqual(await google.execute(lamp.id, ["OnOff", { on: true }]), pending);
    assert.equal((await google.query(lamp.id))[lamp.id].on, false, "nothing is shown that the device has not shown");
    const reports = async () => (await deliveries()).filter(({ thingIds }) => thingIds.includes(lamp.id)).length;
    const before = await reports();
    await company.write(lamp.deviceId, { power: "on" });
    await eventually(t.signal, async () => assert.equal(user.states.get(lamp.id)?.on, true));
    await eventually(t.signal, async () => assert.ok((await reports()) > before));

    // Each of two counts, also while the lamp has not shown the first.
    for (const _ of ["once", "twice"]) {
      const brighter = await google.execute(lamp.id, ["BrightnessRelative", { brightnessRelativePercent: 10 }]);
      assert.deepEqual(brighter, pending);
    }
    await company.write(lamp.deviceId, { brightness: "60" });
    await eventually(t.signal, async () => assert.equal(user.states.get(lamp.id)?.brightness, 60));
    const { body } = await company.call(`/things/${lamp.id}/commands`);
    const { command, params, state }: Json = body.commands[0];
    assert.deepEqual([command, params, state], ["adjust", { deltaPercent: 10 }, "confirmed"], "40 and twice 10 is 60");

    // The device never answers: the state after the command is told, which is the one before it.
    assert.deepEqual(await google.execute(lamp.id, ["OnOff", { on: false }]), pending);
    const told = await reports();
    await eventually(t.signal, async () => assert.ok((await reports()) > told));
    await isReported();
    assert.equal(user.states.get(lamp.id)?.on, true);
  });
});
