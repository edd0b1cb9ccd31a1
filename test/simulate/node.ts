import { alertsOn, type RunningAlerts } from "../../src/alerts/alerts.ts";
import { type Commit, type CommitRequest, commitOn, type DeviceCommit } from "../../src/devices/commit.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { ThingControl } from "../../src/devices/thing-control.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import { readConfiguration } from "../../src/ecosystems/google-device-access/configuration.ts";
import { type GoogleOptions, googleConnector } from "../../src/ecosystems/google-device-access/connector.ts";
import { type HomeAssistantOptions, homeAssistantConnector } from "../../src/ecosystems/home-assistant/connector.ts";
import { eventsOn, type RunningEvents } from "../../src/events/events.ts";
import type { Post } from "../../src/events/webhooks/post.ts";
import { fanEcho } from "../../src/federation/commands/fan-echo.ts";
import { fanGate } from "../../src/federation/commands/fan-gate.ts";
import { sentCommands, thingEcho } from "../../src/federation/commands/thing-echo.ts";
import type { Unlinked } from "../../src/federation/federated-tokens.ts";
import { federationOn, type RunningFederation } from "../../src/federation/federation.ts";
import { type Feeds, feedsOn } from "../../src/federation/feeds/feeds.ts";
import type { Command } from "../../src/home/command-plan.ts";
import { thermostatIn } from "../../src/home/reported-things.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import { Membership } from "../../src/nodes/membership.ts";
import { OwnCommandDeadlines } from "../../src/own-things/own-command-deadlines.ts";
import { ownThingEcho } from "../../src/own-things/own-command-echo.ts";
import { ownThingControl } from "../../src/own-things/own-thing-control.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { type ThingReading, thingReading } from "../../src/own-things/thing-reading.ts";
import { TypeWork } from "../../src/own-things/type-work.ts";
import { type DeviceTypes, deviceTypesOn } from "../../src/provisioning/device-types.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import type { Logger, Runtime } from "../../src/runtime/runtime.ts";
import { alertCommanding } from "../../src/service/alert-commanding.ts";
import { controlOfAll } from "../../src/service/thing-control.ts";
import type { Hint, NodeBus } from "../../src/store/node-bus.ts";
import type { Store } from "../../src/store/seam.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { plainOwnThingIds, plainThingIds } from "../home/thing-ids.ts";
import { grantOf, userOf } from "./actors/tokens.ts";
import type { Makers } from "./assistants/makers.ts";
import { type NodeAssistants, nodeAssistants } from "./assistants/node-assistants.ts";
import type { Claim, HomeTruth } from "./checks/history.ts";
import type { Clock } from "./clocks.ts";
import type { Upstream, UpstreamNode } from "./ecosystem/upstream.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import type { StoreClient } from "./store/memory-store.ts";
import type { SimulatedTables } from "./store/memory-tables.ts";

/** How a node reaches the ecosystems beside the first one; undefined for one that the run does not have. */
export interface OtherWires {
  readonly google: ((node: Process) => Pick<GoogleOptions, "call" | "feedTokens" | "relistMs">) | undefined;
  readonly homeAssistant:
    | ((node: Process) => Pick<HomeAssistantOptions, "openSocket" | "post" | "turns" | "searchMs" | "onLimitReached">)
    | undefined;
  /** Called when a node reports an error in its own work on a link. */
  readonly linkFaulted: (userId: number, sentence: string) => void;
}

export interface NodeParts extends OtherWires {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly way: StoreClient["way"];
  readonly upstream: Upstream;
  readonly storeFor: (client: StoreClient) => Store<SimulatedTables>;
  readonly nodeBusFor: (client: StoreClient) => NodeBus;
  /** How the node calls webhooks. */
  readonly postFor: (node: SimulatedNode) => Post;
  readonly newWebhookId: () => string;
  readonly logDays: number;
  /** How often confirmation times are stored: in some runs more often than the service itself does. */
  readonly confirmEveryMs: number;
  /** Whether the company has devices of its own; without them nothing looks for their commands. */
  readonly hasOwnThings: boolean;
  /** The makers of assistants; undefined in a run without them. */
  readonly makers: Makers | undefined;
  /** The stored link of a user, and the number of committed transactions, for the record. */
  readonly linkOf: (userId: number) => LinkRow | undefined;
  readonly committedSoFar: () => number;
}

const configuration = readConfiguration("google", {
  projectId: "project",
  clientId: "client",
  clientSecret: "secret",
  subscription: "projects/project/subscriptions/events",
  serviceAccountFile: "none",
});

/** An account that the follower of that time received. */
export interface NodeReceipt {
  readonly userId: number;
  readonly seq: number;
  readonly home: HomeTruth;
  readonly follower: object | undefined;
}

/** One process of the service: the real core on a simulated store, clock and ecosystem. Its death loses all its memory. */
export class SimulatedNode implements StoreClient, UpstreamNode {
  readonly name: string;
  isDead = false;
  isFrozen = false;
  isCut = false;
  /** The node has started, and clients can reach it. */
  isReady = false;
  claim: Claim | null = null;
  readonly way: StoreClient["way"];
  readonly clock: Clock;
  readonly states: DeviceStates;
  readonly commit: Commit;
  readonly federation: RunningFederation;
  readonly alerts: RunningAlerts;
  readonly events: RunningEvents;
  /** Commands to things of both kinds. */
  readonly control: ThingControl;
  readonly things: ThingReading;
  readonly deviceTypes: DeviceTypes;
  readonly assistants: NodeAssistants | undefined;
  readonly receipts: NodeReceipt[] = [];
  /** Users for whom a snapshot was replaced by a newer one because the store was too slow. */
  readonly withSkippedSnapshots = new Set<number>();
  readonly #parts: NodeParts;
  readonly #membership: Membership;
  readonly #nodeBus: NodeBus;
  readonly #feeds: Feeds | undefined;
  readonly #outgoing: OutgoingCalls;
  readonly #ownWork: readonly (OwnCommandDeadlines | TypeWork)[];
  /** The numbers of calls in progress, by user: to link or relink, and to link. */
  readonly #proving = new Map<number, number>();
  readonly #linking = new Map<number, number>();
  readonly #store: ReturnType<NodeParts["storeFor"]>;
  #deafen: () => void = () => undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.clock = parts.clock;
    this.way = parts.way;
    const { scheduler, upstream } = parts;
    const runtime: Runtime = {
      nowMs: parts.clock.nowMs,
      elapsedMs: () => scheduler.nowMs,
      random: () => scheduler.dice.next(),
      after: (delayMs, act) => scheduler.after(delayMs, this, "timer", act),
      report: this.#report(),
    };
    const store = parts.storeFor(this);
    this.#store = store;
    this.states = new DeviceStates(store);
    this.#nodeBus = parts.nodeBusFor(this);
    this.#membership = new Membership(this.name as NodeId, store, runtime, this.#nodeBus);
    const shared = { ...runtime, nowMs: () => this.#membership.nowMs() };
    const connectors = new Map([["nest", upstream.connectorFor(this)]]);
    if (parts.google) {
      connectors.set("google", googleConnector({ configuration, runtime: shared, ...parts.google(this) }));
    }
    if (parts.homeAssistant) {
      const options = { name: "home", allowPrivateNetworks: false, nowMs: shared.nowMs, timers: shared };
      connectors.set("home", homeAssistantConnector({ ...options, ...parts.homeAssistant(this) }));
    }
    const ownThings = new OwnThings(plainOwnThingIds);
    this.alerts = alertsOn({ store, ownThings, commanding: alertCommanding(() => this.control) });
    const commitParts = {
      store,
      ownThings,
      gates: [fanGate({ connectors, stateOf: (deviceId) => this.federation.keeper.standing(deviceId)?.state })],
      reactions: [
        fanEcho((commandId) => this.federation.fans.sentAt(commandId)),
        thingEcho(sentCommands(() => this.federation)),
        ownThingEcho(ownThings),
        this.alerts.react,
      ],
      committed: (commits: readonly DeviceCommit[], isUrgent: boolean) => {
        this.states.apply(commits);
        this.alerts.afterCommit(commits);
        this.federation.afterCommit(commits);
        this.events.afterCommit(isUrgent);
        this.assistants?.reporter.afterCommit(isUrgent);
      },
      report: runtime.report,
    };
    const commit = commitOn(commitParts);
    this.commit = (request) => this.#commitWithClaim(request, commit);
    const nothing = () => undefined;
    const feedParts = { store, membership: this.#membership, connectors, runtime: shared };
    const feeds = parts.google && feedsOn({ ...feedParts, count: nothing, onLimitReached: nothing });
    this.#feeds = feeds;
    const sealing = { seal: (secret: string, place: string) => `${place}: ${secret}`, open: openSealed };
    this.#outgoing = new OutgoingCalls({ timers: shared });
    this.federation = federationOn({
      outgoing: this.#outgoing,
      store,
      states: this.states,
      commit: this.commit,
      membership: this.#membership,
      connectors,
      sealing,
      thingIdOf: plainThingIds,
      runtime: shared,
      ...(feeds && { feeds }),
      confirmEveryMs: parts.confirmEveryMs,
    });
    this.control = controlOfAll(this.federation.control, ownThingControl({ store, ownThings }), ownThings.ids);
    this.things = thingReading(store, ownThings);
    this.deviceTypes = deviceTypesOn(store, ownThings.maps);
    const { makers } = parts;
    this.assistants =
      makers &&
      nodeAssistants({
        ...{ store, runtime: shared, sealing, things: this.things, control: this.control, federation: this.federation },
        ...{ makers, call: makers.callFor(this), newUuid: () => makers.newUuid() },
      });
    const commitGroup = commitGroupOn(commitParts);
    this.#ownWork = parts.hasOwnThings
      ? [
          new OwnCommandDeadlines({ store, ownThings, runtime: shared }),
          new TypeWork({ store, commitGroup, ownThings, runtime: shared }),
        ]
      : [];
    this.events = eventsOn({
      outgoing: this.#outgoing,
      store,
      runtime: shared,
      sealing,
      logDays: parts.logDays,
      receivesHints: () => this.#nodeBus.receivesHints,
      streamsAtOnce: 100,
      allowsPrivateWebhooks: true,
      userAgent: "simulated",
      post: parts.postFor(this),
      newWebhookId: parts.newWebhookId,
    });
  }

  /** Sends a command to one of the thermostats of a link; `pick` chooses among their ids. */
  async commandThermostat(
    userId: UserId,
    deviceId: DeviceId,
    command: Command,
    pick: (thingIds: readonly string[]) => string,
    clientId = "simulated",
  ): Promise<void> {
    const marks = await this.#store.read((tx) => tx.things.marks(userId, deviceId));
    const thingIds = marks.flatMap(({ key, thingId }) => (thermostatIn(key) === undefined ? [] : [thingId]));
    if (thingIds.length === 0) return;
    const caller = { kind: "user", userId } as const;
    await this.federation.control.command(caller, pick(thingIds.toSorted()), { command, clientId });
  }

  async start(): Promise<void> {
    await this.#membership.start();
    await this.federation.start();
    this.events.start();
    this.assistants?.reporter.start();
    for (const work of this.#ownWork) work.start();
    const heed: Readonly<Record<Hint, () => void>> = {
      log: () => {
        this.events.hinted();
        this.assistants?.reporter.hinted();
      },
      commands: () => {
        this.federation.fans.wake();
        this.federation.commands.wake();
      },
      revocations: () => undefined,
      links: () => this.federation.keeper.wake(),
      feed: () => this.#feeds?.wake(),
      questions: () => undefined,
      quotas: () => undefined,
    };
    this.#deafen = this.#nodeBus.onHint((hint) => heed[hint]());
    this.isReady = true;
  }

  async drain(): Promise<void> {
    this.isReady = false;
    // As in the service: a failure to leave does not keep the node running.
    const leaving = this.federation
      .handBack()
      .then(() => this.#membership.stop())
      .catch(() => undefined);
    this.#deafen();
    await this.events.stop();
    await this.assistants?.reporter.stop();
    for (const work of this.#ownWork) await work.stop();
    this.#outgoing.stop();
    await this.federation.stop();
    await leaving;
  }

  nowMs(): number {
    return this.#membership.nowMs();
  }

  link(userId: UserId, token: string | Credential): Promise<DeviceId> {
    const link = () => this.federation.link(userId, "Nest", token);
    return during(this.#linking, userId, () => during(this.#proving, userId, link));
  }

  relink(userId: UserId, token: string | Credential): Promise<DeviceId> {
    return during(this.#proving, userId, () => this.federation.relink(userId, "Nest", token));
  }

  unlink(userId: UserId): Promise<Unlinked> {
    return this.federation.unlink(userId, "Nest");
  }

  isProving(userId: number): boolean {
    return (this.#proving.get(userId) ?? 0) > 0;
  }

  isLinking(userId: number): boolean {
    return (this.#linking.get(userId) ?? 0) > 0;
  }

  received(token: string, home: HomeTruth): void {
    const userId = userOf(token);
    const link = this.#parts.linkOf(userId);
    const follower = link && grantOf(tokenIn(link)) === grantOf(token) ? this.followerOf(userId) : undefined;
    this.receipts.push({ userId, seq: this.#parts.committedSoFar(), home, follower });
  }

  followerOf(userId: number) {
    const link = this.#parts.linkOf(userId);
    return link && this.federation.keeper.supervisor(link.deviceId);
  }

  /** The store reads the claim when the transaction begins, which is before the first await. */
  #commitWithClaim(request: CommitRequest, commit: Commit): Promise<readonly DeviceCommit[]> {
    this.claim = request.ownership ?? null;
    const result = commit(request);
    this.claim = null;
    return result;
  }

  #report(): Logger {
    const say = (fields: object, sentence: string) => {
      const { error, userId, errorId } = fields as { error?: Error; userId?: number; errorId?: string };
      if (errorId !== undefined && userId !== undefined) {
        this.#parts.linkFaulted(userId, `${this.name}: ${sentence} (${error?.stack})`);
      }
      if (sentence.includes("a snapshot was dropped")) this.withSkippedSnapshots.add(userId!);
      const who = userId === undefined ? "" : ` (user ${userId})`;
      this.#parts.scheduler.note(`${this.name} says: ${sentence}${who}${error ? ` – ${error.message}` : ""}`);
    };
    return { debug: say, info: say, warn: say, error: say };
  }
}

/** Counts the call while it is in progress. */
async function during<Result>(
  counts: Map<number, number>,
  userId: number,
  call: () => Promise<Result>,
): Promise<Result> {
  const count = (by: number) => counts.set(userId, (counts.get(userId) ?? 0) + by);
  count(1);
  try {
    return await call();
  } finally {
    count(-1);
  }
}

/** The token of a stored link; the simulation's sealing only adds a prefix. */
export function tokenIn({ sealedToken }: Pick<LinkRow, "sealedToken">): string {
  return openSealed(sealedToken);
}

function openSealed(sealedToken: string): string {
  return sealedToken.split(": ")[1]!;
}
