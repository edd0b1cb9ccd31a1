import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { adminCalls } from "../../src/cli/administration/calls/calls.ts";
import { commitOn } from "../../src/devices/commit.ts";
import { deviceReading } from "../../src/devices/read.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import { eventsOn } from "../../src/events/events.ts";
import type { LinkStatus } from "../../src/federation/link-status.ts";
import type { Callers } from "../../src/http/request/caller.ts";
import { ResumableBatches } from "../../src/idempotency/resumable-batches.ts";
import type { StepParts } from "../../src/link-sessions/steps/step.ts";
import { linkSteps } from "../../src/link-sessions/steps/steps.ts";
import { InvalidClient, InvalidToken } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { oauthOn } from "../../src/oauth/oauth.ts";
import { TokenVerifier } from "../../src/oauth/token-verification.ts";
import type { AdaptorFederation } from "../../src/outlets/adaptor/adaptor-routes.ts";
import { type OutletParts, startOutlets } from "../../src/outlets/serve.ts";
import { cursorsWith } from "../../src/outlets/v3/cursor.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { thingReading } from "../../src/own-things/thing-reading.ts";
import { TraitMaps } from "../../src/own-things/trait-maps.ts";
import { deviceTypesOn } from "../../src/provisioning/device-types.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import type { Logger } from "../../src/runtime/runtime.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";
import { plainOwnThingIds } from "../home/thing-ids.ts";
import { collecting, madePlatform, type Reported } from "../platform/made-platform.ts";
import { closed } from "../set-up/closed-socket.ts";

export type Adaptor = AdaptorFederation;

/** The HTTP server with real parts, except the federation, whose calls the test may replace. */
export async function madeServer(
  t: TestContext,
  change: Partial<
    Pick<
      OutletParts,
      | "checks"
      | "limits"
      | "metrics"
      | "onLimitReached"
      | "certificate"
      | "trustedProxies"
      | "corsOrigins"
      | "platform"
      | "callers"
    >
  > = {},
) {
  const platform = await madePlatform(t);
  const reported: Reported[] = [];
  const federationCalls: unknown[][] = [];
  const federation: { -readonly [Call in keyof Adaptor]: Adaptor[Call] } = {
    async link(...args) {
      federationCalls.push(["link", ...args]);
      return 41 as DeviceId;
    },
    async relink(...args) {
      federationCalls.push(["relink", ...args]);
      return 42 as DeviceId;
    },
    async unlink(...args) {
      federationCalls.push(["unlink", ...args]);
      const removed = { attributes: 519, history: 3, blindIntervals: 1, commands: 2, alerts: 4 };
      return { deviceId: 43 as DeviceId, removed, isTokenRevoked: true };
    },
    async status(...args) {
      federationCalls.push(["status", ...args]);
      return linkStatus;
    },
    async largeStrings(...args) {
      federationCalls.push(["largeStrings", ...args]);
      return { labels: {}, identifiers: {} };
    },
  };
  const callers: Callers = {
    bySecToken: (secToken) => platform.identity.authenticate(secToken),
    byAccessToken: async () => {
      throw new InvalidToken();
    },
    byClientSecret: async () => {
      throw new InvalidClient();
    },
  };
  const v3 = madeV3(platform, collecting(reported));
  const oauth = madeOAuth(platform, collecting(reported), () => server.url);
  const server = await startOutlets({
    host: "127.0.0.1",
    port: 0,
    report: collecting(reported),
    callers,
    oauth,
    v3,
    googleHome: { assistants: {} as never, tokens: {} as never },
    alexa: { alexa: {} as never },
    account: { account: {} as never, identity: {} as never, nowMs: Date.now },
    linkPages: { linkSessions: { steps: linkSteps({} as StepParts) } },
    admin: { administration: { calls: adminCalls } as never },
    console: {
      operators: {} as never,
      administration: { calls: adminCalls } as never,
      nowMs: Date.now,
      openId: undefined,
      events: {} as never,
      watchOperator: () => () => undefined,
      ecosystems: [],
    },
    platform: platform.calls,
    federation: {
      link: (...args) => federation.link(...args),
      relink: (...args) => federation.relink(...args),
      unlink: (...args) => federation.unlink(...args),
      status: (...args) => federation.status(...args),
      largeStrings: (...args) => federation.largeStrings(...args),
    },
    sessions: platform.identity,
    checks: {},
    metrics: { text: async () => "", token: undefined },
    build: { version: "0.0.0", commit: "0a1b2c3d", schema: 60 },
    baseUrl: () => server.url,
    ...change,
  });
  t.after(() => server.stop());
  return {
    ...platform,
    server,
    callers,
    oauth,
    v3,
    federation,
    federationCalls,
    reported,
    /** Everything that was logged, as text, with all details of errors. */
    log: () => reported.map((line) => inspect(line, { depth: 10, maxStringLength: null })).join("\n"),
    fetch: (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init),
    /** Sends the text unchanged and returns everything that the server sent until it closed the connection. */
    raw: async (text: string) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.setEncoding("latin1");
      let answer = "";
      socket.on("data", (part) => {
        answer += part;
      });
      socket.write(text, "latin1");
      await closed(socket);
      return answer;
    },
  };
}

/** The authorization server of the store. */
function madeOAuth(
  { store, identity }: Awaited<ReturnType<typeof madePlatform>>,
  report: Logger,
  issuer: () => string,
): OutletParts["oauth"] {
  const runtime = processRuntime(report);
  const oauth = oauthOn({
    store,
    identity,
    verification: new TokenVerifier({ store, runtime }),
    sealer: sealingWith(randomBytes(32)),
    areOlderNodesGone: () => true,
    runtime,
    issuer,
    lifetimes: { accessSeconds: 3_600, refreshSeconds: 86_400 },
    onLimitReached: () => undefined,
  });
  return { oauth, logoOf: (tenantId) => identity.logoOf(tenantId) };
}

/** Users and devices of the store; no device is linked. */
function madeV3({ store, identity }: Awaited<ReturnType<typeof madePlatform>>, report: Logger): OutletParts["v3"] {
  const states = new DeviceStates(store);
  const commit = commitOn({ store, reactions: [], committed: (commits) => states.apply(commits), report });
  const fresh = { isPresent: true, isStale: false, confirmedTimeMs: null };
  const nobody = () => Promise.reject(new InvalidToken());
  const runtime = processRuntime(report);
  const events = eventsOn({
    store,
    runtime,
    outgoing: new OutgoingCalls({ timers: runtime }),
    sealing: sealingWith(randomBytes(32)),
    logDays: 7,
    streamsAtOnce: 16,
    allowsPrivateWebhooks: false,
    userAgent: "breezeway/test",
  });
  return {
    users: identity,
    alerts: alertsOn({ store }),
    devices: { ...deviceReading(store, states), ...deviceWriting(store, commit) },
    federation: {
      freshnessOfEach: async (devices) => new Map(devices.map(({ id }) => [id, fresh])),
      thingFreshnessOfEach: async (links) => new Map(links.map(({ deviceId }) => [deviceId, fresh])),
      freshnessBeside: () => ({ read: async () => undefined, of: async () => fresh }),
      freshnessHere: () => fresh,
      receipts: async () => [],
    },
    provisioning: {
      addAll: nobody,
      addSome: nobody,
      alarmLines: nobody,
      writeSome: nobody,
      writeCostly: nobody,
      update: nobody,
      remove: nobody,
    },
    batches: new ResumableBatches(store),
    deviceTypes: deviceTypesOn(store, new TraitMaps()),
    audit: { record: async () => undefined },
    things: thingReading(store, new OwnThings(plainOwnThingIds)),
    control: { command: nobody, admit: nobody, reached: nobody, wake: nobody, receipts: nobody, receipt: nobody },
    events,
    webhooks: events.webhooks,
    linkSessions: { create: nobody, get: nobody },
    tokens: { watch: nobody, clientOf: nobody },
    quotas: { openStream: () => () => undefined, admitCommand: () => undefined },
    idempotency: { run: nobody },
    cursors: cursorsWith("a key of this test"),
  };
}

const linkStatus: LinkStatus = {
  deviceId: 43 as DeviceId,
  ecosystem: "nest",
  state: "waiting",
  reason: "silent: nothing was heard for too long",
  isPresent: false,
  isStale: true,
  confirmedTimeMs: 1_000,
  overLimit: { structures: 1, thermostats: 0, alarms: 2 },
  oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0, strayAlarms: 0, partialPuts: 0 },
  drifts: 0,
  blindIntervals: [
    { fromMs: 1, toMs: 2, cause: "closed" },
    { fromMs: 3, toMs: null, cause: "silent" },
  ],
};
