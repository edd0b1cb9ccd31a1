import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alexa } from "../../../src/assistants/alexa/assistant.ts";
import { endpointsOf } from "../../../src/assistants/alexa/endpoint.ts";
import { type AlexaBody, lateAnswer } from "../../../src/assistants/alexa/gateway.ts";
import type { AlexaCredential } from "../../../src/assistants/alexa/login-tokens.ts";
import { type AlexaEvent, addOrUpdateReport, deleteReport } from "../../../src/assistants/alexa/messages.ts";
import type { AssistantMessage, Outcome, Recipient } from "../../../src/assistants/assistant.ts";
import type { MakerAnswer, MakerCall } from "../../../src/assistants/maker-call.ts";
import { processRuntime } from "../../../src/runtime/process/process-runtime.ts";
import { silent } from "../../contracts/store/home.ts";
import { checked } from "./checked.ts";
import { settings } from "./settings.ts";
import { onOff, thing } from "./things.ts";

const nowMs = Date.UTC(2026, 10, 17);
const { tokenUrl } = settings;
const eventUrl = "https://api.eu.amazonalexa.com/v3/events";
const credential: AlexaCredential = {
  accessToken: "access-1",
  refreshToken: "refresh-1",
  expiresMs: nowMs + 3_600_000,
};
const message: AssistantMessage = {
  type: "DeleteReport",
  thingIds: ["t_1"],
  tells: { state: true, sync: true },
  body: { events: [deleteReport("m-1", ["t_1"])] } satisfies AlexaBody,
};

const answered = (status: number, document: object = {}, headers = {}): MakerAnswer => ({
  isAnswered: true,
  status,
  document: document as Readonly<Record<string, unknown>>,
  headers,
});
const refused = (status: number, code: string) => answered(status, { payload: { code, description: "secret words" } });
const noAnswer: MakerAnswer = { isAnswered: false, detail: "no answer in time" };
const renewed = answered(200, { access_token: "access-2", refresh_token: "refresh-2", expires_in: 3_600 });

const runtime = { ...processRuntime(silent), nowMs: () => nowMs };

interface Attempt {
  readonly outcome: Outcome;
  readonly calls: readonly MakerCall[];
  /** The credentials that were stored. */
  readonly kept: readonly object[];
}

/** Delivers the message while Amazon gives these answers, in this order. */
async function deliver(
  answers: readonly MakerAnswer[],
  to: Partial<Recipient<typeof settings>> = {},
  sent = message,
  signal = new AbortController().signal,
): Promise<Attempt> {
  const calls: MakerCall[] = [];
  const kept: object[] = [];
  const waiting = [...answers];
  const { deliver } = alexa({
    call: async (call) => {
      calls.push(call);
      return waiting.shift() ?? assert.fail("a call too many");
    },
    runtime,
    newUuid: () => "m",
  });
  const recipient: Recipient<typeof settings> = {
    outletId: "o",
    settings,
    agentUserId: "u",
    region: "eu",
    credential,
    keepCredential: async (one) => {
      kept.push(one);
      return true;
    },
    ...to,
  };
  const outcome = await deliver(sent, recipient, signal);
  assert.equal(waiting.length, 0, "an answer was not used");
  return { outcome, calls, kept };
}

describe("a message to the event gateway", () => {
  it("goes to the region of the grant, with the token in the header and in the event", async () => {
    const { outcome, calls } = await deliver([answered(202)]);
    assert.deepEqual(outcome, { result: "taken", status: 202 });
    assert.equal(calls[0]!.url, eventUrl);
    assert.equal(calls[0]!.token, "access-1");
    const sent = checked(calls[0]!.body as AlexaEvent);
    assert.deepEqual(sent.event.payload.scope, { type: "BearerToken", token: "access-1" });
    assert.ok(!JSON.stringify(message).includes("access-1"), "the message that is kept holds no token");
  });

  const table: readonly (readonly [string, MakerAnswer, Outcome["result"], boolean])[] = [
    ["a malformed message", refused(400, "INVALID_REQUEST_EXCEPTION"), "refused", false],
    ["a disabled skill", refused(403, "SKILL_DISABLED_EXCEPTION"), "forget", false],
    ["an enablement that is not there yet", refused(403, "SKILL_NEVER_ENABLED_EXCEPTION"), "retry", false],
    ["a missing permission", refused(403, "INSUFFICIENT_PERMISSION_EXCEPTION"), "retry", true],
    ["an unknown skill", refused(404, "SKILL_NOT_FOUND_EXCEPTION"), "retry", true],
    ["too many endpoints", refused(413, "REQUEST_ENTITY_TOO_LARGE_EXCEPTION"), "refused", false],
    ["throttling", refused(429, "THROTTLING_EXCEPTION"), "retry", false],
    ["an internal error", refused(500, "INTERNAL_SERVICE_EXCEPTION"), "retry", false],
    ["an outage", refused(503, "SERVICE_UNAVAILABLE_EXCEPTION"), "retry", false],
    ["no answer", noAnswer, "retry", false],
    ["an answer that Alexa does not document", answered(302), "retry", false],
  ];
  for (const [name, answer, result, waitsForOperator] of table) {
    it(`has the outcome that the answer means: ${name}`, async () => {
      const { outcome } = await deliver([answer]);
      assert.equal(outcome.result, result);
      assert.ok(outcome.result !== "taken");
      assert.equal("afterMs" in outcome && (outcome.afterMs ?? 0) > 60_000, waitsForOperator);
      assert.ok(!outcome.text.includes("secret words"));
      if (answer.isAnswered && answer.status !== 302) assert.match(outcome.text, /^answered \d+ [A-Z_]+$/);
    });
  }
});

describe("a message that Alexa throttles or finds too large", () => {
  const tooLarge = refused(413, "REQUEST_ENTITY_TOO_LARGE_EXCEPTION");
  const times = (count: number, answer: MakerAnswer) => Array.from({ length: count }, () => answer);
  const removalOf = (ids: readonly string[]): AssistantMessage => ({
    ...message,
    body: { events: [deleteReport("m-1", ids)] } satisfies AlexaBody,
  });
  const endpointsIn = ({ body }: MakerCall) =>
    ((body as AlexaEvent).event.payload.endpoints as { endpointId: string }[]).map(({ endpointId }) => endpointId);
  const whole = removalOf(Array.from({ length: 300 }, (_, index) => `t_${index}`));

  it("waits as long as Alexa asks for", async () => {
    const waits = async (text: string) => (await deliver([answered(429, {}, { "retry-after": text })])).outcome;
    const outcome = { result: "retry", status: 429, text: "answered 429" };
    assert.deepEqual(await waits("7"), { ...outcome, afterMs: 7_000 });
    assert.deepEqual(await waits("soon"), { ...outcome, afterMs: undefined });
  });

  it("is split until its parts are taken, and refused when one endpoint alone is too large", async () => {
    const three = ["t_1", "t_2", "t_3"];
    const large = removalOf(three);
    const { outcome, calls } = await deliver([tooLarge, tooLarge, ...times(3, answered(202))], {}, large);
    assert.equal(outcome.result, "taken");
    assert.deepEqual(calls.map(endpointsIn), [three, ["t_1", "t_2"], ["t_3"], ["t_1"], ["t_2"]]);
    for (const { body } of calls) checked(body as AlexaEvent);
    const partly = await deliver([tooLarge, tooLarge, answered(202), tooLarge, answered(202)], {}, large);
    assert.equal(partly.outcome.result, "refused");
    assert.equal(partly.calls.length, 5, "the others are told");
  });

  it("is refused when none of 16 parts is taken, so that no refusal takes longer than an attempt may", async () => {
    const { outcome, calls } = await deliver(times(1 + 2 + 4 + 8 + 16, tooLarge), {}, whole);
    assert.equal(outcome.result, "refused");
    assert.ok(calls.slice(-16).every((call) => endpointsIn(call).length <= 19));
  });

  it("is not sent on in parts once one of them is throttled, or the skill is disabled", async () => {
    const throttled = answered(429, {}, { "retry-after": "7" });
    const first = times(1 + 2 + 4 + 8, tooLarge);
    const waits = await deliver([...first, throttled, ...times(7, answered(202))], {}, whole);
    assert.deepEqual(waits.outcome, { result: "retry", status: 429, text: "answered 429", afterMs: 7_000 });
    const disabled = refused(403, "SKILL_DISABLED_EXCEPTION");
    assert.equal((await deliver([tooLarge, disabled, tooLarge], {}, whole)).outcome.result, "forget");
  });

  const additionOf = (ids: readonly string[]): AssistantMessage => {
    const endpoints = ids.flatMap((thingId) => endpointsOf(thing("light", onOff(true), { thingId }), "none"));
    return { ...message, body: { events: [addOrUpdateReport("m-1", endpoints)] } satisfies AlexaBody };
  };

  it("is told again later when it adds endpoints: Alexa may have no room for them at present", async () => {
    const { outcome } = await deliver([tooLarge], {}, additionOf(["t_1"]));
    assert.ok(outcome.result === "refused" && outcome.afterMs! > 0);
    const removal = (await deliver([tooLarge])).outcome;
    assert.ok(removal.result === "refused" && removal.afterMs === undefined);
  });

  const four = additionOf(["t_1", "t_2", "t_3", "t_4"]);
  const malformed = refused(400, "INVALID_REQUEST_EXCEPTION");

  it("adds the other endpoints when Alexa refuses one of them", async () => {
    const answers = [malformed, answered(202), malformed, answered(202), malformed];
    const { outcome, calls } = await deliver(answers, {}, four);
    assert.deepEqual(calls.slice(1).map(endpointsIn), [["t_1", "t_2"], ["t_3", "t_4"], ["t_3"], ["t_4"]]);
    assert.ok(outcome.result === "refused" && outcome.afterMs === undefined, "the malformed one is not sent again");
  });

  /** Adds 300 endpoints, of which Alexa refuses these. */
  async function addWithMalformed(malformedIds: readonly string[]) {
    const all = Array.from({ length: 300 }, (_, index) => `t_${index}`);
    const added: string[] = [];
    const call = async (made: MakerCall) => {
      const ids = endpointsIn(made);
      if (ids.some((id) => malformedIds.includes(id))) return malformed;
      added.push(...ids);
      return answered(202);
    };
    const { deliver } = alexa({ call, runtime, newUuid: () => "m" });
    const known = { outletId: "o", settings, agentUserId: "u", region: "eu", credential };
    const to = { ...known, keepCredential: async () => true };
    const outcome = await deliver(additionOf(all), to, new AbortController().signal);
    assert.ok(outcome.result === "refused");
    return { outcome, missing: all.filter((id) => !added.includes(id)) };
  }

  it("finds one endpoint that Alexa refuses among all that it takes", async () => {
    const { outcome, missing } = await addWithMalformed(["t_77"]);
    assert.deepEqual(missing, ["t_77"]);
    assert.equal(outcome.afterMs, undefined);
  });

  it("is told again later about endpoints that were only sent together with malformed ones", async () => {
    const many = ["t_20", "t_77", "t_150", "t_233"];
    const { outcome, missing } = await addWithMalformed(many);
    assert.ok(missing.length > many.length && outcome.afterMs! > 0);
    assert.deepEqual(
      outcome.thingIds!.filter((id) => !many.includes(id)),
      missing.filter((id) => !many.includes(id)),
    );
  });

  it("names the things of those parts that Alexa may take later, whatever else it refuses", async () => {
    const answers = [tooLarge, malformed, tooLarge, malformed, answered(202), tooLarge, tooLarge];
    const { outcome } = await deliver(answers, {}, four);
    assert.ok(outcome.result === "refused" && outcome.afterMs! > 0);
    assert.deepEqual(outcome.thingIds, ["t_3", "t_4"]);
  });

  it("says that Alexa was too slow when its time has passed", async () => {
    const lost: MakerAnswer = { isAnswered: false, detail: "the answer broke off" };
    const outcomeOf = async (signal?: AbortSignal) => (await deliver([lost], {}, message, signal)).outcome;
    assert.deepEqual(await outcomeOf(AbortSignal.abort()), { result: "retry", status: null, text: lateAnswer });
    assert.deepEqual(await outcomeOf(), { result: "retry", status: null, text: lost.detail });
  });
});

describe("a message with several events", () => {
  const events = Array.from({ length: 20 }, (_, index) => deleteReport(`m-${index}`, [`t_${index}`]));
  const many: AssistantMessage = { ...message, body: { events } satisfies AlexaBody };
  const taken = (count: number) => Array.from({ length: count }, () => answered(202));

  it("is taken when all its events are, in their order", async () => {
    const { outcome, calls } = await deliver(taken(20), {}, many);
    assert.equal(outcome.result, "taken");
    const ids = calls.map(({ body }) => (body as AlexaEvent).event.header.messageId);
    assert.deepEqual(
      ids,
      events.map(({ event }) => event.header.messageId),
    );
  });

  it("is tried again when one fails, and stops there", async () => {
    const { outcome, calls } = await deliver([...taken(3), noAnswer, ...taken(4)], {}, many);
    assert.equal(outcome.result, "retry");
    assert.equal(calls.length, 8);
  });

  it("is refused when one is, after all others were sent", async () => {
    const { outcome } = await deliver([refused(400, "INVALID_REQUEST_EXCEPTION"), ...taken(19)], {}, many);
    assert.equal(outcome.result, "refused");
  });

  it("is sent again with a renewed token", async () => {
    const wrong = Array.from({ length: 8 }, () => refused(401, "INVALID_ACCESS_TOKEN_EXCEPTION"));
    assert.equal((await deliver([...wrong, renewed, ...taken(20)], {}, many)).outcome.result, "taken");
  });
});

describe("the token for the event gateway", () => {
  it("is renewed once when the gateway refuses it, and stored before it is used", async () => {
    const { outcome, calls, kept } = await deliver([
      refused(401, "INVALID_ACCESS_TOKEN_EXCEPTION"),
      renewed,
      answered(202),
    ]);
    assert.equal(outcome.result, "taken");
    assert.deepEqual(calls[1], {
      method: "POST",
      url: tokenUrl,
      form: {
        grant_type: "refresh_token",
        refresh_token: "refresh-1",
        client_id: settings.messagingClientId,
        client_secret: settings.messagingClientSecret,
      },
    });
    assert.equal(calls[2]!.token, "access-2");
    assert.deepEqual(kept, [{ accessToken: "access-2", refreshToken: "refresh-2", expiresMs: nowMs + 3_600_000 }]);
  });

  it("is not renewed a second time", async () => {
    const wrongToken = refused(401, "INVALID_ACCESS_TOKEN_EXCEPTION");
    assert.equal((await deliver([wrongToken, renewed, wrongToken])).outcome.result, "retry");
    const expired = { ...credential, expiresMs: nowMs + 1_000 };
    assert.equal((await deliver([renewed, wrongToken], { credential: expired })).outcome.result, "retry");
  });

  it("is renewed five minutes ahead of its end", async () => {
    const soon = { ...credential, expiresMs: nowMs + 299_000 };
    const { calls } = await deliver([renewed, answered(202)], { credential: soon });
    assert.deepEqual(
      calls.map(({ url, token }) => [url, token]),
      [
        [tokenUrl, undefined],
        [eventUrl, "access-2"],
      ],
    );
    await deliver([answered(202)], { credential: { ...credential, expiresMs: nowMs + 301_000 } });
  });

  it("keeps its refresh token when the renewal brings none", async () => {
    const answer = answered(200, { access_token: "access-2", expires_in: 60 });
    const { kept } = await deliver([answer, answered(202)], { credential: { ...credential, expiresMs: 0 } });
    assert.deepEqual(kept, [{ accessToken: "access-2", refreshToken: "refresh-1", expiresMs: nowMs + 60_000 }]);
  });

  const failures: readonly (readonly [string, MakerAnswer, Outcome["result"]])[] = [
    ["the user has disabled the skill", answered(400, { error: "invalid_grant" }), "forget"],
    ["the skill's credentials are wrong", answered(401, { error: "invalid_client" }), "retry"],
    ["Login with Amazon is down", answered(503), "retry"],
    ["Login with Amazon does not answer", noAnswer, "retry"],
    ["the answer has no token", answered(200, {}), "retry"],
    ["the answer has no time", answered(200, { access_token: "a", refresh_token: "r" }), "retry"],
  ];
  for (const [name, answer, result] of failures) {
    it(`is not there when ${name}`, async () => {
      const { outcome, kept } = await deliver([answer], { credential: { ...credential, expiresMs: 0 } });
      assert.equal(outcome.result, result);
      assert.deepEqual(kept, []);
    });
  }

  it("is not used when the user has linked again meanwhile", async () => {
    const to = { credential: { ...credential, expiresMs: 0 }, keepCredential: async () => false };
    assert.equal((await deliver([renewed], to)).outcome.result, "retry");
  });

  it("is needed for every message", async () => {
    assert.equal((await deliver([], { credential: undefined })).outcome.result, "forget");
  });
});

describe("the check of an outlet", () => {
  const check = async (tokenAnswer: MakerAnswer, gatewayAnswer: MakerAnswer) => {
    const call = async ({ url }: MakerCall) => (url === tokenUrl ? tokenAnswer : gatewayAnswer);
    const { check } = alexa({ call, runtime, newUuid: () => "m" });
    const facts = await check(settings, new AbortController().signal);
    return facts.map(({ fact, isRight }) => `${fact}: ${isRight}`);
  };

  it("proves the messaging credentials and the way to the gateways", async () => {
    assert.deepEqual(await check(answered(400, { error: "invalid_grant" }), answered(401)), [
      "messaging credentials: true",
      "event gateway na: true",
      "event gateway eu: true",
      "event gateway fe: true",
    ]);
  });

  it("finds wrong credentials and gateways that do not answer", async () => {
    assert.deepEqual(await check(answered(401, { error: "invalid_client" }), noAnswer), [
      "messaging credentials: false",
      "event gateway na: false",
      "event gateway eu: false",
      "event gateway fe: false",
    ]);
    assert.equal((await check(noAnswer, answered(401)))[0], "messaging credentials: false");
  });
});
