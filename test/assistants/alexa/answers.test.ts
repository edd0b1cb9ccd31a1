import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alexaAnswers } from "../../../src/assistants/alexa/answers.ts";
import { readDirective } from "../../../src/assistants/alexa/directive.ts";
import type { AlexaCredential, NoTokens } from "../../../src/assistants/alexa/login-tokens.ts";
import type { AlexaEvent } from "../../../src/assistants/alexa/messages.ts";
import type { CommandBatch } from "../../../src/assistants/commanding.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { NewReply } from "../../../src/assistants/grants.ts";
import type { Outlet } from "../../../src/assistants/outlets.ts";
import type { CommandReceipt } from "../../../src/devices/command-receipts.ts";
import type { ScopedPrincipal } from "../../../src/identity/principal.ts";
import { InvalidToken, QuotaExceeded } from "../../../src/model/errors.ts";
import type { TenantId, UserId } from "../../../src/model/ids.ts";
import { limits } from "../../../src/model/limits.ts";
import type { Scopes } from "../../../src/model/scopes.ts";
import { OutgoingCalls } from "../../../src/runtime/network/outgoing-calls.ts";
import { processRuntime } from "../../../src/runtime/process/process-runtime.ts";
import { silent } from "../../contracts/store/home.ts";
import { flushPromises, manualRuntime } from "../../federation/manual-runtime.ts";
import { checked } from "./checked.ts";
import { settings } from "./settings.ts";
import { brightness, changedMs, fanTimer, onOff, smoke, thermostat, thing } from "./things.ts";

const userId = 7 as UserId;
const tenantId = 1 as TenantId;
const lamp = thing("light", { ...onOff(false), ...brightness(40) }, { thingId: "t_lamp" });
const heater = thing("thermostat", { thermostat: thermostat(), ...fanTimer(false) }, { thingId: "t_heater" });
const tokens: AlexaCredential = { accessToken: "a", refreshToken: "r", expiresMs: 1 };

interface World {
  readonly scopes?: Scopes;
  readonly things?: readonly CurrentThing[];
  readonly kind?: "user" | "enterprise";
  readonly clientId?: string;
  readonly isExpired?: boolean;
  readonly isAtQuota?: boolean;
  /** False: Alexa has no grant for messages of this user. */
  readonly hasGrant?: boolean;
  readonly receipt?: Partial<CommandReceipt>;
  /** Gone things that Alexa is not to delete yet. */
  readonly leaving?: readonly string[];
  readonly exchanged?: AlexaCredential | NoTokens | Promise<NoTokens>;
}

/** An outlet of client `skill`, and what was asked of the parts behind it. */
function world(given: World = {}) {
  const { scopes = ["devices:read", "devices:control"], things = [lamp, heater], kind = "user" } = given;
  const sent: CommandBatch[] = [];
  const replies: NewReply[] = [];
  const granted: object[] = [];
  const exchanges: string[] = [];
  const warned: object[] = [];
  const recorded: unknown[] = [];
  const outlet = { id: "outlet-1", clientId: "skill", tenantId, kind: "alexa", settings } as unknown as Outlet;
  const principal = (
    kind === "user" ? { kind, userId, tenantId, scopes } : { kind, tenantId, scopes }
  ) as ScopedPrincipal;
  const answers = alexaAnswers({
    accessTokens: {
      verify: async (token) => (token === "good" ? principal : Promise.reject(new InvalidToken())),
      clientOf: async () => given.clientId ?? "skill",
      isExpired: async () => given.isExpired ?? false,
    },
    directives: {
      async during(outletId, name, errorIn, answering) {
        const answer = await answering();
        recorded.push([outletId, name, errorIn(answer)]);
        return answer;
      },
    },
    outgoing: new OutgoingCalls({ timers: manualRuntime() }),
    admitRequest: () => {
      if (given.isAtQuota) throw new QuotaExceeded(7, "The client has used its quota of 1 requests a minute.");
    },
    outlets: { ofClient: async (_, clientId) => (clientId === "skill" ? outlet : undefined) },
    grants: {
      listed: async () => undefined,
      establish: async (_, user, options) => void granted.push({ user, ...options?.messagingAccess }),
      leaving: async () => given.leaving ?? [],
      replyLater: async (_outlet, _user, reply) => {
        replies.push(reply);
        return given.hasGrant ?? true;
      },
    },
    homes: {
      all: async () => things.filter(({ goneMs }) => goneMs === null),
      some: async (_, ids) =>
        new Map(things.filter((one) => ids.includes(one.thingId)).map((one) => [one.thingId, one])),
    },
    commands: {
      run: async (command) => {
        sent.push(command);
        const { commands, thingId } = command;
        const base = {
          id: "c5",
          thingId,
          command: commands[0]!,
          alertId: null,
          state: "confirmed",
          error: null,
        } as const;
        return [{ ...base, requestedMs: 0, sentMs: 0, settledMs: 0, ...given.receipt }];
      },
    },
    tokens: {
      exchange: async () => {
        exchanges.push("code");
        return given.exchanged ?? tokens;
      },
      renew: () => assert.fail("nothing is renewed"),
    },
    runtime: {
      ...processRuntime({ ...silent, warn: (fields) => void warned.push(fields) }),
      nowMs: () => changedMs + 1_000,
    },
    newMessageId: () => "m-1",
  });
  const ask = async (
    named: string,
    { endpointId, payload = {}, token = "good", version = "3", region = "eu-west-1" }: Asked = {},
  ): Promise<AlexaEvent> => {
    const [namespace, name] = named.split(" ");
    const scope = { type: "BearerToken", token };
    const header = { namespace, name, payloadVersion: version, messageId: "in", correlationToken: "corr" };
    const endpoint = endpointId === undefined ? {} : { endpoint: { endpointId, scope, cookie: {} } };
    const body = { directive: { header, ...endpoint, payload: { scope, ...payload } } };
    return checked(await answers.answer(readDirective(body)!, region));
  };
  return { ask, sent, replies, granted, exchanges, warned, recorded };
}

interface Asked {
  readonly endpointId?: string;
  readonly payload?: object;
  readonly token?: string;
  readonly version?: string;
  readonly region?: string;
}

/** `namespace name type` of an event. */
function shown({ event: { header, payload } }: AlexaEvent): string {
  return [header.namespace, header.name, payload.type].filter(Boolean).join(" ");
}

describe("the token of a directive", () => {
  const invalid = "Alexa ErrorResponse INVALID_AUTHORIZATION_CREDENTIAL";
  const cases: readonly (readonly [string, World, string, string])[] = [
    ["is unknown", {}, "wrong", invalid],
    ["is missing", {}, "", invalid],
    ["has expired", { isExpired: true }, "old", "Alexa ErrorResponse EXPIRED_AUTHORIZATION_CREDENTIAL"],
    ["belongs to another client", { clientId: "other" }, "good", invalid],
    ["is that of a whole tenant", { kind: "enterprise" }, "good", invalid],
    ["is that of a client at its quota", { isAtQuota: true }, "good", "Alexa ErrorResponse RATE_LIMIT_EXCEEDED"],
    ["does not allow reading", { scopes: ["devices:control"] }, "good", "Alexa ErrorResponse INSUFFICIENT_PERMISSIONS"],
  ];
  for (const [name, given, token, expected] of cases) {
    it(`is refused when it ${name}`, async () => {
      const { ask, sent, granted } = world(given);
      assert.equal(shown(await ask("Alexa.Discovery Discover", { token })), expected);
      assert.equal(shown(await ask("Alexa ReportState", { token, endpointId: "t_lamp" })), expected);
      assert.equal(shown(await ask("Alexa.PowerController TurnOn", { token, endpointId: "t_lamp" })), expected);
      const grant = { grant: { type: "OAuth2.AuthorizationCode", code: "code" } };
      assert.equal(
        shown(await ask("Alexa.Authorization AcceptGrant", { token, payload: grant })),
        "Alexa.Authorization ErrorResponse ACCEPT_GRANT_FAILED",
      );
      assert.deepEqual([...sent, ...granted], []);
    });
  }

  it("is verified before the directive is recorded, which is by name and error alone", async () => {
    const { ask, recorded } = world();
    await ask("Alexa.PowerController TurnOn", { token: "wrong", endpointId: "t_lamp" });
    assert.deepEqual(recorded, []);
    await ask("Alexa.PowerController TurnOn", { endpointId: "t_lamp" });
    await ask("Alexa ReportState", { endpointId: "t_gone" });
    assert.deepEqual(recorded, [
      ["outlet-1", "Alexa.PowerController TurnOn", null],
      ["outlet-1", "Alexa ReportState", "NO_SUCH_ENDPOINT"],
    ]);
  });

  it("does not allow commands without the scope for them", async () => {
    const { ask, sent } = world({ scopes: ["devices:read"] });
    assert.equal(shown(await ask("Alexa ReportState", { endpointId: "t_lamp" })), "Alexa StateReport");
    const answer = await ask("Alexa.PowerController TurnOn", { endpointId: "t_lamp" });
    assert.equal(shown(answer), "Alexa ErrorResponse INSUFFICIENT_PERMISSIONS");
    assert.deepEqual(sent, []);
  });

  it("allows fans alone when it is older than scopes", async () => {
    const { ask } = world({ scopes: null });
    const payload = { thermostatMode: { value: "OFF" } };
    const mode = await ask("Alexa.ThermostatController SetThermostatMode", { endpointId: "t_heater", payload });
    assert.equal(shown(mode), "Alexa ErrorResponse INSUFFICIENT_PERMISSIONS");
  });
});

describe("a directive", () => {
  it("discovers the home, also an empty one", async () => {
    const { event } = await world().ask("Alexa.Discovery Discover");
    assert.equal((event.payload.endpoints as readonly object[]).length, 2);
    const nothing = await world({ things: [] }).ask("Alexa.Discovery Discover");
    assert.deepEqual(nothing.event.payload, { endpoints: [] });
  });

  it("discovers what Alexa takes, and has the omitted endpoints counted in the log", async () => {
    const things = Array.from({ length: 302 }, (_, index) => ({ ...lamp, thingId: `t_${index}` }));
    const { ask, warned } = world({ things });
    const { event } = await ask("Alexa.Discovery Discover");
    assert.equal((event.payload.endpoints as readonly object[]).length, 300);
    assert.deepEqual(warned, [{ user: userId, outlet: "outlet-1", omitted: 2 }]);
  });

  it("asks for the state of an endpoint", async () => {
    const { context, event } = await world().ask("Alexa ReportState", { endpointId: "t_lamp" });
    assert.equal(event.header.correlationToken, "corr");
    assert.deepEqual(event.endpoint, { endpointId: "t_lamp" });
    assert.equal(context!.properties.length, 3);
  });

  it("is refused for an endpoint that is not there, or not offered", async () => {
    const { ask } = world({ things: [thing("alarm", smoke("clear"), { thingId: "t_alarm" }), heater] });
    const ids = ["t_none", "t_alarm", "t_heater:fan", "bad id", undefined];
    for (const endpointId of ids) {
      const answer = await ask("Alexa ReportState", endpointId === undefined ? {} : { endpointId });
      assert.equal(shown(answer), "Alexa ErrorResponse NO_SUCH_ENDPOINT", String(endpointId));
    }
  });

  it("finds a gone thing unreachable until Alexa is told of its removal", async () => {
    const things = [{ ...lamp, goneMs: changedMs }];
    const leaving = world({ things, leaving: ["t_lamp"] });
    const { event } = await leaving.ask("Alexa.Discovery Discover");
    assert.equal((event.payload.endpoints as readonly object[]).length, 1);
    assert.equal(shown(await leaving.ask("Alexa ReportState", { endpointId: "t_lamp" })), "Alexa StateReport");
    const gone = world({ things });
    const nothing = await gone.ask("Alexa.Discovery Discover");
    assert.deepEqual(nothing.event.payload, { endpoints: [] });
    const answer = await gone.ask("Alexa ReportState", { endpointId: "t_lamp" });
    assert.equal(shown(answer), "Alexa ErrorResponse NO_SUCH_ENDPOINT");
  });

  it("is refused in another payload version, and when the endpoint does not know it", async () => {
    const { ask } = world();
    const invalid = "Alexa ErrorResponse INVALID_DIRECTIVE";
    assert.equal(shown(await ask("Alexa ReportState", { endpointId: "t_lamp", version: "2" })), invalid);
    assert.equal(shown(await ask("Alexa.LockController Lock", { endpointId: "t_lamp" })), invalid);
  });
});

describe("a command through Alexa", () => {
  const turnOn = { endpointId: "t_lamp" };

  it("is sent for the user by the outlet's client, and answered with the state after it", async () => {
    const { ask, sent, replies } = world();
    const answer = await ask("Alexa.PowerController TurnOn", turnOn);
    assert.equal(shown(answer), "Alexa Response");
    assert.equal(answer.context!.properties.length, 3);
    const command = { trait: "onOff", command: "set", params: { on: true } };
    assert.deepEqual(sent, [{ userId, tenantId, clientId: "skill", thingId: "t_lamp", commands: [command] }]);
    assert.deepEqual(replies, []);
  });

  for (const state of ["queued", "sending", "accepted"] as const) {
    it(`is deferred while it is ${state}, and answered later`, async () => {
      const { ask, replies } = world({ receipt: { state } });
      const answer = await ask("Alexa.PowerController TurnOn", turnOn);
      assert.equal(shown(answer), "Alexa DeferredResponse");
      assert.equal(answer.event.header.correlationToken, "corr");
      const reply = { correlationToken: "corr", endpointId: "t_lamp" };
      assert.deepEqual(replies, [{ commandId: "c5", thingId: "t_lamp", reply }]);
    });
  }

  it("is not deferred without a grant for messages, because the outcome could never be told", async () => {
    const { ask } = world({ receipt: { state: "accepted" }, hasGrant: false });
    assert.equal(shown(await ask("Alexa.PowerController TurnOn", turnOn)), "Alexa ErrorResponse ENDPOINT_UNREACHABLE");
  });

  it("is answered with the reason when it was refused", async () => {
    const { ask } = world({ receipt: { state: "rejected", error: { code: "busy", text: "busy" } } });
    assert.equal(shown(await ask("Alexa.PowerController TurnOn", turnOn)), "Alexa ErrorResponse ENDPOINT_BUSY");
  });

  it("is not sent to an endpoint that can't be reached", async () => {
    const { ask, sent } = world({ things: [{ ...lamp, isStale: true }] });
    const unreachable = "Alexa ErrorResponse ENDPOINT_UNREACHABLE";
    assert.equal(shown(await ask("Alexa.PowerController TurnOn", turnOn)), unreachable);
    assert.deepEqual(sent, []);
  });
});

describe("a grant for messages", () => {
  // Without the bound nothing would be refused.
  const soon = { timeout: 20_000 };
  const payload = { grant: { type: "OAuth2.AuthorizationCode", code: "code" } };
  const failed = "Alexa.Authorization ErrorResponse ACCEPT_GRANT_FAILED";

  it("is exchanged and stored with the region of the event gateway", async () => {
    const { ask, granted } = world();
    const answer = await ask("Alexa.Authorization AcceptGrant", { payload });
    assert.equal(shown(answer), "Alexa.Authorization AcceptGrant.Response");
    assert.deepEqual(granted, [{ user: userId, credential: tokens, region: "eu" }]);
  });

  it("is exchanged for two of a user at a time, and ends the linking when too many wait", soon, async () => {
    const { promise, resolve } = Promise.withResolvers<NoTokens>();
    const { ask, exchanges } = world({ exchanged: promise });
    const texts: string[] = [];
    const asked = Array.from({ length: 50 }, async () => {
      texts.push(shown(await ask("Alexa.Authorization AcceptGrant", { payload })));
    });
    const admitted = limits.outgoingCallsPerUser + limits.outgoingCallsWaitingPerUser;
    while (texts.length < 50 - admitted) await flushPromises();
    assert.deepEqual([exchanges.length, new Set(texts)], [limits.outgoingCallsPerUser, new Set([failed])]);
    resolve({ reason: "failed", text: "no answer" });
    await Promise.all(asked);
    assert.equal(exchanges.length, admitted);
  });

  const cases: readonly (readonly [string, World, Asked])[] = [
    ["without a code", {}, { payload: { grant: {} } }],
    ["without a grant", {}, { payload: {} }],
    ["with a grant that is none", {}, { payload: { grant: null } }],
    ["without a region", {}, { payload, region: "" }],
    ["from an unknown region", {}, { payload, region: "mars-north-1" }],
    ["that Amazon refuses", { exchanged: { reason: "ended", text: "invalid_grant" } }, { payload }],
    ["without an answer of Amazon", { exchanged: { reason: "failed", text: "no answer" } }, { payload }],
  ];
  for (const [name, given, asked] of cases) {
    it(`ends the linking ${name}`, async () => {
      const { ask, granted } = world(given);
      const answer = await ask("Alexa.Authorization AcceptGrant", asked);
      assert.equal(shown(answer), failed);
      assert.deepEqual(granted, []);
    });
  }
});
