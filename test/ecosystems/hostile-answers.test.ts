import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { loginTokens } from "../../src/assistants/alexa/login-tokens.ts";
import type { AlexaSettings } from "../../src/assistants/alexa/settings.ts";
import { googleConnector } from "../../src/ecosystems/google-device-access/connector.ts";
import { readEvent } from "../../src/ecosystems/google-device-access/events.ts";
import { Subscription } from "../../src/ecosystems/google-device-access/subscription.ts";
import { postForm } from "../../src/ecosystems/home-assistant/form-post.ts";
import { issuedIn } from "../../src/ecosystems/home-assistant/renewal.ts";
import { codeFlowConsent } from "../../src/ecosystems/kit/code-flow-consent.ts";
import { jsonCaller } from "../../src/ecosystems/kit/json-call.ts";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { EcosystemUnreachable } from "../../src/model/errors.ts";
import { JsonThread, readJsonHere } from "../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { fanAction } from "./actions.ts";
import { answerOf, startByteServer } from "./byte-server.ts";
import { generous } from "./google-device-access/harness.ts";
import { makeDocument } from "./made-documents.ts";

/** An answer that is right, but for a filler. */
const filled = (members: object, filler: string) => `${JSON.stringify(members).slice(0, -1)},"filler":${filler}}`;

/** Beyond the bounds of a handshake. */
const hostile: Readonly<Record<string, string>> = {
  "too many values": `[${"1,".repeat(2_000)}1]`,
  "too much depth": "[".repeat(17) + "]".repeat(17),
  "too many bytes": `"${"x".repeat(70_000)}"`,
};

/** Beyond the bounds of a large answer. */
const hostileList: Readonly<Record<string, string>> = {
  "too many values": `[${"1,".repeat(500_000)}1]`,
  "too much depth": "[".repeat(33) + "]".repeat(33),
  "too many bytes": `"${"x".repeat(2_100_000)}"`,
};

const rules = { resolve: async () => [], allowsPrivate: true };
const issued = { access_token: "a", refresh_token: "r", expires_in: 3_600 };

async function answering(t: TestContext, status: number, body: string): Promise<string> {
  return (await startByteServer(t, (socket) => socket.end(answerOf(status, body, "userid: u\r\n")))).url;
}

for (const [kind, filler] of Object.entries(hostile)) {
  describe(`an answer with ${kind}`, () => {
    const call = jsonCaller(readJsonHere);

    it("holds no tokens for a code flow, and its words are not shown", async (t) => {
      const exchanged = async (status: number, members: object) => {
        const tokenUrl = await answering(t, status, filled(members, filler));
        const consent = codeFlowConsent({ authUrl: tokenUrl, tokenUrl, clientId: "c", clientSecret: "s" });
        return consent.exchange({ code: "code", redirectUri: tokenUrl, codeVerifier: "v" }, t.signal);
      };
      assert.equal((await exchanged(200, issued)).state, "unanswered");
      const refusal = await exchanged(400, { error_description: "hostile words" });
      assert.deepEqual(refusal, { state: "refused", reason: "it answered 400" });
    });

    it("holds no tokens of a Home Assistant instance", async (t) => {
      const url = new URL(await answering(t, 200, filled(issued, filler)));
      const answer = await postForm({ url, path: "/auth/token", form: {} }, rules, t.signal);
      assert.deepEqual(answer, { status: 200, body: undefined });
      assert.equal(issuedIn(answer, 0), undefined);
    });

    it("holds no tokens of Login with Amazon", async (t) => {
      const tokenUrl = await answering(t, 200, filled(issued, filler));
      const settings = { tokenUrl, messagingClientId: "c", messagingClientSecret: "s" } as AlexaSettings;
      const tokens = await loginTokens({ call, nowMs: () => 0 }).renew("r", settings, t.signal);
      assert.equal("reason" in tokens && tokens.reason, "failed");
    });

    it("is known by its status alone when it refuses a call", async (t) => {
      const url = await answering(t, 403, filled({ error: "hostile words" }, filler));
      const answer = await call({ method: "POST", url, form: {} }, t.signal);
      assert.ok(answer.isAnswered);
      assert.deepEqual([answer.status, answer.document], [403, {}]);
    });

    it("refuses a command to a Nest thermostat without words of its own", async (t) => {
      const apiUrl = await answering(t, 400, filled({ message: "hostile words" }, filler));
      const { act } = nestConnector({ name: "nest", apiUrl, allowedHosts: [] });
      const outcome = await act("token", fanAction("t1", true), t.signal);
      assert.deepEqual(outcome, { state: "rejected", message: "the ecosystem answered 400" });
    });
  });
}

for (const [kind, filler] of Object.entries(hostileList)) {
  describe(`an account with ${kind}`, () => {
    it("of Nest can't be read", async (t) => {
      const apiUrl = await answering(t, 200, filled(makeDocument(), filler));
      const { readJson } = startedThread(t);
      const { read } = nestConnector({ name: "nest", apiUrl, allowedHosts: [], readJson });
      await assert.rejects(read("token", t.signal), EcosystemUnreachable);
    });

    it("of Google is no empty account", async (t) => {
      const url = await answering(t, 200, filled({ structures: [] }, filler));
      const { readJson, runtime } = startedThread(t);
      const configuration = googleConfiguration(url);
      const { read } = googleConnector({ configuration, runtime, limits: generous, call: jsonCaller(readJson) });
      await assert.rejects(read("token", t.signal), EcosystemUnreachable);
    });
  });

  describe(`a pull with ${kind}`, () => {
    it("is a failed pull, and no message is stored or acknowledged", async (t) => {
      const message = {
        ackId: "a",
        message: { messageId: "1", data: Buffer.from('{"userId":"u"}').toString("base64") },
      };
      const body = filled({ receivedMessages: [message] }, filler);
      const server = await startByteServer(t, (socket) => socket.end(answerOf(200, body)));
      const { readJson, runtime } = startedThread(t);
      const feed = new Subscription({
        url: `${server.url}/subscription`,
        tokens: { token: async () => ({ token: "token" }), forget: () => undefined },
        call: jsonCaller(readJson),
        runtime,
        pullLimitMs: 60_000,
        answerLimitMs: 60_000,
      });
      const stopping = new AbortController();
      const faults: string[] = [];
      const receiver = {
        store: () => assert.fail("a message was stored"),
        unreadable: () => undefined,
        answered: () => undefined,
        failed: (fault: string) => {
          faults.push(fault);
          stopping.abort();
        },
      };
      await feed.pull(receiver, stopping.signal);
      assert.match(faults.join(), /^the answer (is not JSON that can be read|broke off or was too large)$/);
      assert.equal(server.requests.length, 1);
    });
  });
}

describe("an event of Google", () => {
  const event = { timestamp: "2030-01-01T00:00:00Z", userId: "u", resourceUpdate: { name: "d", traits: {} } };

  it("is not read if it has too many values or too much depth", () => {
    assert.equal(readEvent(JSON.stringify(event))?.kind, "traits");
    assert.equal(readEvent(filled(event, `[${"1,".repeat(20_000)}1]`)), undefined);
    assert.equal(readEvent(filled(event, "[".repeat(32) + "]".repeat(32))), undefined);
  });

  it("keeps only what is read of it", () => {
    const traits = {
      "sdm.devices.traits.Info": { customName: "Hall", more: "x".repeat(1_000) },
      "sdm.devices.traits.ThermostatMode": { mode: "HEAT", availableModes: ["HEAT", "OFF"], extra: [1] },
      "sdm.devices.traits.Unknown": { text: "x".repeat(1_000) },
      "sdm.devices.traits.Fan": "no object",
    };
    const content = { timestamp: "2026-01-01T00:00:00Z", resourceUpdate: { name: "d", traits } };
    const event = readEvent(JSON.stringify(content));
    assert.deepEqual(event?.kind === "traits" && event.traits, {
      "sdm.devices.traits.Info": { customName: "Hall" },
      "sdm.devices.traits.ThermostatMode": { mode: "HEAT", availableModes: ["HEAT", "OFF"] },
    });
  });
});

function startedThread(t: TestContext) {
  const runtime = manualRuntime();
  const thread = new JsonThread(runtime);
  t.after(() => thread.stop());
  return { readJson: thread.read, runtime };
}

function googleConfiguration(url: string) {
  return {
    name: "google",
    protocol: "google-device-access",
    projectId: "p",
    clientId: "c",
    clientSecret: "s",
    subscription: "projects/p/subscriptions/s",
    serviceAccountFile: "none",
    apiUrl: url,
    authUrl: url,
    tokenUrl: url,
    revokeUrl: url,
    pubsubUrl: url,
    minCelsius: 9,
    maxCelsius: 32,
  } as const;
}
