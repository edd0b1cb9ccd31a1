import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { accountOn } from "../account/account.ts";
import { alertsOn } from "../alerts/alerts.ts";
import { alexaAnswers } from "../assistants/alexa/answers.ts";
import { loginTokens } from "../assistants/alexa/login-tokens.ts";
import { assistantsOn } from "../assistants/assistants.ts";
import type { AdministrationParts } from "../cli/administration/admin-command.ts";
import { administrationOn } from "../cli/administration/administration.ts";
import type { Config } from "../config/config.ts";
import type { ShownSetting } from "../config/shown-settings.ts";
import { type CommitListener, commitOn, type DeviceCommit, type Gate, type Reaction } from "../devices/commit.ts";
import { commitGroupOn } from "../devices/commit-group.ts";
import { ErasedNames } from "../devices/erased-names.ts";
import { deviceReading } from "../devices/read.ts";
import { DeviceStates } from "../devices/states.ts";
import { deviceWriting } from "../devices/write.ts";
import { jsonCaller } from "../ecosystems/kit/json-call.ts";
import { UnfinishedMessages } from "../ecosystems/kit/unfinished-messages.ts";
import { connectorOf, isGoogles } from "../ecosystems/registry.ts";
import { eventsOn } from "../events/events.ts";
import { recentEventsOn } from "../events/recent-chains.ts";
import { AddressSealing } from "../events/webhooks/address-sealing.ts";
import { addressContext } from "../events/webhooks/webhooks.ts";
import { fanEcho } from "../federation/commands/fan-echo.ts";
import { fanGate } from "../federation/commands/fan-gate.ts";
import { sentCommands, thingEcho } from "../federation/commands/thing-echo.ts";
import { federationOn } from "../federation/federation.ts";
import { feedsOn } from "../federation/feeds/feeds.ts";
import { IdempotentWrites } from "../idempotency/idempotent-writes.ts";
import { ResumableBatches } from "../idempotency/resumable-batches.ts";
import { identityOn } from "../identity/identity.ts";
import type { PasswordOptions } from "../identity/passwords.ts";
import { linkSessionsOn } from "../link-sessions/link-sessions.ts";
import { HourlyCounts } from "../metrics/hourly-counts.ts";
import { CountStorage } from "../metrics/stored-counts.ts";
import type { OnLimitReached } from "../model/limits.ts";
import { nodeName } from "../model/node-name.ts";
import { Membership } from "../nodes/membership.ts";
import { NodeQuestions } from "../nodes/node-questions.ts";
import { ThingFormChoice } from "../nodes/thing-form.ts";
import { grantAdministrationOn } from "../oauth/grant-administration.ts";
import { oauthOn } from "../oauth/oauth.ts";
import { TokenVerifier } from "../oauth/token-verification.ts";
import { operatorsOn } from "../operators/operators.ts";
import { SessionWatch } from "../operators/session-watch.ts";
import { OwnAlarms } from "../own-things/own-alarms.ts";
import { OwnCommandDeadlines } from "../own-things/own-command-deadlines.ts";
import { ownThingEcho } from "../own-things/own-command-echo.ts";
import { ownThingControl } from "../own-things/own-thing-control.ts";
import { OwnThings } from "../own-things/own-things.ts";
import { thingReading } from "../own-things/thing-reading.ts";
import { TypeWork } from "../own-things/type-work.ts";
import { deviceTypesOn } from "../provisioning/device-types.ts";
import { addDevice, removeDevice } from "../provisioning/operator-devices.ts";
import { provisioningOn } from "../provisioning/provisioning.ts";
import { TenantDeviceCounts } from "../provisioning/tenant-device-counts.ts";
import { QuotaSettings } from "../quotas/quota-settings.ts";
import { quotaUse } from "../quotas/quota-use.ts";
import { Quotas } from "../quotas/quotas.ts";
import { RecentRequests } from "../requests/recent-requests.ts";
import { requestSearch } from "../requests/request-search.ts";
import { JsonThread } from "../runtime/json/json-thread.ts";
import { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import { processErrorOwners } from "../runtime/process/process-error-owners.ts";
import { type Logger, pause, type Runtime } from "../runtime/runtime.ts";
import { Backups } from "../store/backup/backups.ts";
import { lastBackupMs, recordBackup } from "../store/backup/last-backup.ts";
import { Compaction } from "../store/disk/compaction.ts";
import { diskSpaceOf } from "../store/disk/disk-space.ts";
import { newEpochName } from "../store/epoch-name.ts";
import { manageKeys } from "../store/keys/keys.ts";
import { ownerlessStore } from "../store/ownerless-store.ts";
import { activityOn } from "./activity.ts";
import { alertCommanding } from "./alert-commanding.ts";
import { takeBackup } from "./backup.ts";
import { build } from "./build.ts";
import { deliveryBacklog } from "./delivery-backlog.ts";
import { deploymentFacts } from "./deployment-facts.ts";
import { directiveTrial } from "./directive-trial.ts";
import { openFoundation } from "./foundation.ts";
import { homeAlerts } from "./home-alerts.ts";
import { homeDevices } from "./home-devices.ts";
import { homeParts } from "./home-parts.ts";
import { homeSearch } from "./home-search.ts";
import { dropValue } from "./lost-values.ts";
import { openIdOf } from "./operator-openid.ts";
import { ownNodeName } from "./own-node-name.ts";
import { PatternThread } from "./pattern-thread.ts";
import { storedPublicAddress } from "./public-address.ts";
import { sealingContext } from "./sealing-keys.ts";
import { staleLinksOn } from "./stale-links.ts";
import { agentUserIds, nodeId, ownThingIds, thingIds } from "./stored-identifiers.ts";
import { controlOfAll } from "./thing-control.ts";
import { VerificationRuns } from "./verification-runs.ts";

export interface OpenOptions {
  /** For commands that repair a key file: keys that the store needs may be missing. */
  readonly mayLackKeys?: boolean;
  readonly passwords?: PasswordOptions;
  /** The settings with their sources, for operators; none by default. */
  readonly settings?: readonly ShownSetting[];
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Builds all parts in order and hands each what it needs. Nothing listens and no link is followed yet: commands use the
 * parts as they are, `startService` starts them.
 */
export async function openParts(config: Config, report: Logger, runtime?: Runtime, options: OpenOptions = {}) {
  const foundation = await openFoundation(config, report, runtime, options);
  try {
    return await partsOn(foundation, config, report, options);
  } catch (error) {
    await foundation.close();
    throw error;
  }
}

async function partsOn(
  foundation: Awaited<ReturnType<typeof openFoundation>>,
  config: Config,
  report: Logger,
  { passwords, settings = [] }: OpenOptions,
) {
  const { folder, store, keyFile, sealing, metrics, runtime } = foundation;
  const hourly = new HourlyCounts(runtime.nowMs);
  const onLimitReached: OnLimitReached = (limit) => {
    metrics.limitReached(limit);
    hourly.add(limit);
  };
  const outgoing = new OutgoingCalls({ timers: runtime, onLimitReached });
  const failureLimits = { failuresPerSource: config.failuresPerSource };

  const states = new DeviceStates(store);
  const verification = new TokenVerifier({ store, runtime });
  const identity = identityOn({
    store,
    elapsedMs: runtime.elapsedMs,
    report,
    failureLimits,
    ...(passwords && { passwords }),
    onLimitReached,
    grantsEnded: (grantIds) => verification.forget(grantIds),
    suspended: (suspended) => verification.suspend(suspended),
    devicesRemoved: (deviceIds) => {
      for (const deviceId of deviceIds) states.forget(deviceId);
    },
  });

  const operators = operatorsOn({
    store,
    passwords: identity.passwords,
    failureLimits: identity.failureLimits,
    audit: identity.audit,
    onLimitReached,
  });

  const operatorWatch = new SessionWatch(store, runtime);
  const addressSealing = new AddressSealing({
    store,
    runtime,
    seal: (address, webhookId) => sealing.seal(address, addressContext(webhookId)),
  });
  // If the system chooses the port, both are known only when the server listens.
  const address = { baseUrl: config.baseUrl ?? "", listensAt: "" };
  const openId = openIdOf({
    config,
    store,
    sealing,
    outgoing,
    runtime,
    onLimitReached,
    baseUrl: () => address.baseUrl,
  });
  const oauth = oauthOn({
    store,
    identity,
    verification,
    sealer: sealing,
    areOlderNodesGone: () => addressSealing.isOn,
    runtime,
    issuer: () => address.baseUrl,
    lifetimes: { accessSeconds: config.accessTokenSeconds, refreshSeconds: config.refreshTokenDays * 86_400 },
    failureLimits,
    onLimitReached,
  });

  // Links share the store and what follows a commit: an error there belongs to no link.
  const linkStore = ownerlessStore(store, processErrorOwners);
  // Parts below add to these three lists before anything is committed.
  const gates: Gate[] = [];
  const reactions: Reaction[] = [];
  const listeners: CommitListener[] = [];
  const ownThings = new OwnThings(await ownThingIds(store));
  const thingForm = new ThingFormChoice({ store, runtime });
  const commitParts = {
    store: linkStore,
    gates,
    reactions,
    ownThings,
    thingForm: () => thingForm.form,
    committed: (commits: readonly DeviceCommit[], isUrgent: boolean) =>
      processErrorOwners.outside(() => {
        for (const listener of listeners) listener(commits, isUrgent);
      }),
    report,
  };
  const commit = commitOn(commitParts);
  const ownAlarms = new OwnAlarms({ store, ownThings, elapsedMs: runtime.elapsedMs });
  const writing = deviceWriting(
    store,
    commit,
    async (device, changes) => (await ownAlarms.startsAlarm({ device, changes })) && ownAlarms.admits(device.tenantId!),
  );
  const devices = { ...deviceReading(store, states), ...writing };
  const deviceTypes = deviceTypesOn(store, ownThings.maps);
  const commitGroup = commitGroupOn(commitParts);
  const provisioning = provisioningOn({
    store,
    commitGroup,
    states,
    ownThings,
    ownAlarms,
    counts: new TenantDeviceCounts(store, runtime.elapsedMs),
    elapsedMs: runtime.elapsedMs,
  });
  const erasedNames = new ErasedNames({ store, states, runtime });
  const idempotency = new IdempotentWrites({ store, sealer: sealing, runtime });
  const batches = new ResumableBatches(store);
  const patternThread = new PatternThread(runtime);
  const jsonThread = new JsonThread(runtime);
  const unfinished = new UnfinishedMessages(onLimitReached);
  const call = jsonCaller(jsonThread.read, unfinished);
  const stopThreads = async () => {
    await Promise.all([patternThread.stop(), jsonThread.stop()]);
  };
  const alerts = alertsOn({
    store,
    ownThings,
    yieldToOthers: () => new Promise((resolve) => runtime.after(0, resolve)),
    patternWork: patternThread,
    commanding: alertCommanding(() => control),
    onLimitReached,
  });

  const ownId = await nodeId(store, ownNodeName(config.port, ""));
  const membership = new Membership(ownId, store, runtime, store.nodeBus, () => sealing.keyIds);
  // Nodes compare the times that they store for a link or send to a reader: these times are on the shared clock.
  const sharedRuntime = { ...runtime, nowMs: () => membership.nowMs() };
  const nodeQuestions = new NodeQuestions({ store, membership, bus: store.nodeBus, runtime, newId: randomUUID });
  const recentRequests = new RecentRequests(runtime.nowMs);
  const quotaSettings = new QuotaSettings({ store, runtime });
  const { elapsedMs } = runtime;
  const liveNodes = () => membership.liveNodes;
  const quotas = new Quotas({ settings: quotaSettings, liveNodes, elapsedMs, onLimitReached });
  const built = await Promise.all(
    config.ecosystems.map((one) =>
      connectorOf(one, { runtime: sharedRuntime, readJson: jsonThread.read, unfinished, onLimitReached }),
    ),
  );
  const connectors = new Map(built.map((connector) => [connector.name, connector]));
  const feeds = feedsOn({
    store: linkStore,
    membership,
    connectors,
    runtime: sharedRuntime,
    count: metrics.feedMessages,
    onLimitReached,
  });
  const federation = federationOn({
    store: linkStore,
    states,
    commit,
    membership,
    connectors,
    sealing,
    thingIdOf: await thingIds(store),
    runtime: sharedRuntime,
    countFault: metrics.linkFault,
    owners: processErrorOwners,
    feeds,
    outgoing,
  });
  const control = controlOfAll(federation.control, ownThingControl({ store, ownThings }), ownThings.ids);
  const ownDeadlines = new OwnCommandDeadlines({ store, ownThings, runtime: sharedRuntime });
  const typeWork = new TypeWork({ store, commitGroup, ownThings, runtime: sharedRuntime });
  const events = eventsOn({
    store,
    runtime: sharedRuntime,
    outgoing,
    sealing,
    logDays: config.logDays,
    receivesHints: () => store.nodeBus.receivesHints,
    revocationsRead: () => oauth.caughtUp(),
    streamsAtOnce: config.eventStreams,
    allowsPrivateWebhooks: config.allowPrivateWebhooks,
    userAgent: `breezeway/${build.version}`,
    sealsAddresses: () => addressSealing.isOn,
    onLimitReached,
  });

  const linkSessions = linkSessionsOn({
    store,
    sealer: sealing,
    identity,
    clients: oauth,
    connectors,
    federation,
    outgoing,
    runtime,
    baseUrl: () => address.baseUrl,
    appended: () => events.afterCommit(false),
  });

  const ecosystems = new Map(config.ecosystems.map((one) => [one.name, one]));
  const things = thingReading(store, ownThings);
  const homes = homeParts({ store, federation, things, control, linkSessions, identity });
  const assistants = assistantsOn({
    store,
    runtime: sharedRuntime,
    sealing,
    clients: oauth,
    control,
    admitCommand: (sender) => quotas.admitCommand(sender),
    things,
    ...staleLinksOn(store, federation),
    isGoogles: (thing) => isGoogles(ecosystems.get(thing.source), thing),
    agentUserIdOf: await agentUserIds(store),
    outgoing,
    call,
    newUuid: randomUUID,
    newOutletId: () => `bwo_${randomBytes(12).toString("base64url")}`,
    baseUrl: () => address.baseUrl,
    onLimitReached,
    nodes: nodeQuestions,
  });

  const account = accountOn({
    store,
    identity,
    federation,
    things,
    devices,
    alerts,
    linkSessions,
    grantsEnded: (grantIds) => verification.forget(grantIds),
    ecosystems: {
      nameOf: (ecosystem) => connectors.get(ecosystem)?.displayName ?? ecosystem,
      hasConsent: (ecosystem) => connectors.get(ecosystem)?.consent !== undefined,
    },
    nowMs: sharedRuntime.nowMs,
    onLimitReached,
  });

  const alexa = alexaAnswers({
    ...assistants,
    accessTokens: oauth,
    admitRequest: (sender) => quotas.admitRequest(sender),
    tokens: loginTokens({ call, nowMs: sharedRuntime.nowMs }),
    outgoing,
    runtime: sharedRuntime,
    newMessageId: randomUUID,
  });

  gates.push(fanGate({ connectors, stateOf: (deviceId) => federation.keeper.standing(deviceId)?.state }));
  reactions.push(
    fanEcho((commandId) => federation.fans.sentAt(commandId)),
    thingEcho(sentCommands(() => federation)),
    ownThingEcho(ownThings),
    alerts.react,
  );
  listeners.push(
    (commits) => states.apply(commits),
    (commits) => alerts.afterCommit(commits),
    (commits) => federation.afterCommit(commits),
    (_, isUrgent) => {
      events.afterCommit(isUrgent);
      assistants.reporter.afterCommit(isUrgent);
    },
    (commits) => {
      for (const { cause, changes } of commits) {
        metrics.committed(cause.by, changes.length);
        hourly.add("changes", changes.length);
      }
    },
  );
  membership.onStoreReplaced(() => {
    states.forgetAll();
    ownThings.maps.forgetAll();
    void federation.keeper.startOver();
    events.hinted();
    assistants.reporter.hinted();
  });

  const compaction = new Compaction({ space: store.space, runtime });
  const backups = new Backups({ folder: folder.path, keyFile, build, nowMs: runtime.nowMs });
  const closing = new AbortController();
  const backupFolder = join(folder.path, "backups");
  const keys = manageKeys({
    store,
    sealing,
    file: keyFile,
    contextOf: sealingContext,
    dropValue: (tx, location) => dropValue(tx, sealing, location),
    onDropped: async (lost) => {
      // Other nodes notice the new epoch by themselves.
      if (store.isShared) return;
      const lostDevices = new Set(lost.map((value) => value.kind === "link" && value.deviceId));
      const links = await store.read((tx) => tx.links.ownedBy(membership.id));
      for (const link of links.filter(({ deviceId }) => lostDevices.has(deviceId))) federation.keeper.adopt(link);
    },
    pause: (ms) => pause(runtime, ms, closing.signal),
  });
  const verifications = new VerificationRuns({ store, log: report });
  const countStorage = new CountStorage(store, hourly, runtime);
  const { activity, ofNodes: countsOfNodes } = activityOn({
    ...{ store, federation, counts: hourly, countStorage, nodes: nodeQuestions, elapsedMs: runtime.elapsedMs },
  });
  const administrationParts: AdministrationParts = {
    nameOfNode: (id) => (id === ownId && ownNodeName(config.port, address.listensAt)) || nodeName(id),
    identity,
    operators,
    grants: grantAdministrationOn({ store, grantsEnded: (grantIds) => verification.forget(grantIds) }),
    webhooks: events.webhookAdministration,
    clients: oauth,
    commandTokens: oauth.commandTokens,
    federation,
    devices,
    alerts,
    deviceTypes,
    assistants,
    tryDirective: directiveTrial({ store, assistants, alexa }),
    requests: requestSearch(recentRequests, nodeQuestions),
    quotas: { settings: quotaSettings, useOf: quotaUse(quotas, nodeQuestions) },
    addDevice: (device) => addDevice(store, device, ownThings),
    removeDevice: (userId, deviceId) => removeDevice(store, states, userId, deviceId, ownThings),
    linksOf: (userId) => federation.shownLinksOf(userId),
    links: () => federation.overview(),
    foundLinks: (filter) => federation.foundLinks(filter),
    linkCounts: federation.linkCounts,
    blindTimes: (links, withinMs) => federation.blindTimes(links, withinMs),
    ecosystems: built.map(({ name, displayName, consent }) => ({
      ecosystem: name,
      name: displayName,
      hasLinkPage: consent !== undefined,
    })),
    activity,
    deployment: deploymentFacts({
      ...{ store, folder: folder.path, keyFile, config, membership, settings, version: build.version, keys },
      ...{ countsOfNodes, elapsedMs: runtime.elapsedMs },
    }),
    homes,
    homeSearch: homeSearch({ store, things, ownThings, alerts }),
    homeAlerts: homeAlerts({ alerts, devices, things }),
    homeDevices: homeDevices({ store, devices, federation, events }),
    homeEvents: recentEventsOn(store),
    backup: (to, withKey, onProgress) => {
      if (dirname(to) === backupFolder) mkdirSync(backupFolder, { recursive: true, mode: 0o700 });
      return takeBackup({ store, backups, report }, to, withKey, onProgress);
    },
    publicAddress: async () => address.baseUrl || (await storedPublicAddress(store)),
    backupFolder,
    recordBackup: () => recordBackup(store),
    verifications,
    keys,
    compact: (options, onProgress) => compaction.compact(options, onProgress),
    beginEpoch: async () => {
      const epoch = newEpochName();
      await store.transaction((tx) => tx.logEpoch.renew(epoch, true));
      return epoch;
    },
  };
  const administration = administrationOn(administrationParts, () => address);

  metrics.watch({
    store,
    links: () => federation.tally(),
    eventReaders: () => events.hub.readers,
    deliveries: () => deliveryBacklog(store),
    disk: () => diskSpaceOf(folder.path),
    lastBackupMs: () => lastBackupMs(store),
  });

  return {
    folder,
    store,
    address,
    identity,
    operators,
    openId,
    operatorWatch,
    oauth,
    devices,
    deviceTypes,
    ownThings,
    things,
    assistants,
    alexa,
    provisioning,
    erasedNames,
    alerts,
    commit,
    membership,
    outgoing,
    nodeQuestions,
    recentRequests,
    quotaSettings,
    quotas,
    countStorage,
    federation,
    feeds,
    control,
    ownDeadlines,
    typeWork,
    events,
    addressSealing,
    thingForm,
    idempotency,
    batches,
    linkSessions,
    account,
    compaction,
    metrics,
    administration,
    runtime,
    stopThreads,
    async close() {
      closing.abort();
      operatorWatch.stop();
      await verifications.stop();
      await backups.stop();
      await stopThreads();
      await foundation.close();
    },
  };
}
