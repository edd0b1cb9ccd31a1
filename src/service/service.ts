import { alertsOn } from "../alerts/alerts.ts";
import { administrationOn } from "../cli/administration/administration.ts";
import { type ControlServer, serveControl } from "../cli/administration/control-socket.ts";
import { type Config, ConfigurationError, type EcosystemConfig, refuseInsecure } from "../config/config.ts";
import { commitOn } from "../devices/commit.ts";
import { ErasedNames } from "../devices/erased-names.ts";
import { addDevice, removeDevice } from "../devices/inventory.ts";
import { deviceReading } from "../devices/read.ts";
import { DeviceStates } from "../devices/states.ts";
import { deviceWriting } from "../devices/write.ts";
import type { Connector } from "../ecosystem/connector.ts";
import { nestConnector } from "../ecosystem/nest/connector.ts";
import { eventsOn } from "../events/events.ts";
import { AddressSealing } from "../events/webhooks/address-sealing.ts";
import { addressPlace } from "../events/webhooks/webhooks.ts";
import { fanEcho } from "../federation/fan-echo.ts";
import { fanGate } from "../federation/fan-gate.ts";
import { federationOn } from "../federation/federation.ts";
import { linkFaultKinds } from "../federation/link-faults.ts";
import { CertificateProblem } from "../http/connection/certificate.ts";
import { openFileLimit } from "../http/connection/open-files.ts";
import type { GuestRoute } from "../http/routes.ts";
import { IdempotentWrites } from "../idempotency/idempotent-writes.ts";
import { identityOn } from "../identity/identity.ts";
import type { PasswordOptions } from "../identity/passwords.ts";
import { metricsOf } from "../metrics/metrics.ts";
import { observedStore } from "../metrics/observed-store.ts";
import { BadParameter } from "../model/errors.ts";
import type { ReachLimit } from "../model/limits.ts";
import { Membership } from "../nodes/membership.ts";
import { oauthOn } from "../oauth/oauth.ts";
import { platformCalls, unknownOperation } from "../outlets/platform/calls.ts";
import { faultNumbers } from "../outlets/platform/faults.ts";
import { operations as platformOperations } from "../outlets/platform/operations.ts";
import { startOutlets } from "../outlets/serve.ts";
import { cursorsWith } from "../outlets/v3/cursor.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { processErrorOwners } from "../runtime/process/process-error-owners.ts";
import { processRuntime } from "../runtime/process/process-runtime.ts";
import { version } from "../runtime/process/version.ts";
import { pause, type Report, type Runtime } from "../runtime/runtime.ts";
import { Backups } from "../store/backup/backups.ts";
import { lastBackupMs, noteBackup } from "../store/backup/last-backup.ts";
import { Compaction } from "../store/disk/compaction.ts";
import { dataFolder } from "../store/disk/data-folder.ts";
import { diskSpaceOf } from "../store/disk/disk-space.ts";
import { newEpochName } from "../store/epoch-name.ts";
import { keysOn } from "../store/keys/keys.ts";
import type { Hint } from "../store/node-bus.ts";
import { ownerlessStore } from "../store/ownerless-store.ts";
import { openPostgres } from "../store/postgres/store.ts";
import type { OpenStore } from "../store/seam.ts";
import { openSqlite } from "../store/sqlite/store.ts";
import { cursorKey, nodeId, refuseDemoAbroad, sealedFor, sealingFor } from "./deployment.ts";
import { giveUpValue } from "./lost-values.ts";
import { whenFree } from "./waiting-for-start.ts";

export interface OpenOptions {
  /** For commands that repair a key file: keys that the store needs may be missing. */
  readonly mayLackKeys?: boolean;
  readonly passwords?: PasswordOptions;
}

export interface ServiceOptions extends OpenOptions {
  readonly guests?: (parts: Parts) => readonly GuestRoute[];
}

/**
 * Builds all parts, in order, and hands each what it needs; nothing listens and nothing is followed yet. Commands use
 * the parts as they are, `startService` brings them to life.
 */
export async function openParts(
  config: Config,
  report: Report,
  given?: Runtime,
  { mayLackKeys = false, passwords }: OpenOptions = {},
) {
  const folder = dataFolder(config.dataFolder);
  folder.make((sentence) => report.warn({ folder: folder.path }, sentence));
  const unlock = config.databaseUrl ? () => undefined : folder.lock();
  const operationNames = [...platformOperations.keys(), unknownOperation];
  const metrics = metricsOf(version, { linkFaultKinds, operations: operationNames, faults: faultNumbers });
  const runtime = { ...(given ?? processRuntime(report)), countFailure: metrics.backgroundFailure };
  let store: OpenStore | undefined;
  try {
    const opened = config.databaseUrl
      ? await openPostgres({ url: config.databaseUrl })
      : await openSqlite({ folder: folder.path, nowMs: runtime.nowMs, grouped: metrics.grouped });
    store = observedStore(opened, metrics.store);
    const keyFile = config.keyFile ?? folder.keyFile;
    const sealing = await sealingFor(store, keyFile, { mayLackKeys });
    const failureLimits = { failuresPerSource: config.failuresPerSource };
    const identity = identityOn({
      store,
      nowMs: runtime.nowMs,
      report,
      failureLimits,
      ...(passwords && { passwords }),
      reached: metrics.limitReached,
      grantsEnded: (grantIds) => oauth.grantsEnded(grantIds),
      devicesRemoved: (deviceIds) => {
        for (const deviceId of deviceIds) states.forget(deviceId);
      },
    });

    // With a free port, it is known only once that is taken.
    const address = { baseUrl: config.baseUrl ?? "", listensAt: "" };
    const oauth = oauthOn({
      store,
      identity,
      sealer: sealing,
      areOlderNodesGone: () => addressSealing.isOn,
      runtime,
      issuer: () => address.baseUrl,
      lifetimes: { accessSeconds: config.accessTokenSeconds, refreshSeconds: config.refreshTokenDays * 86_400 },
      failureLimits,
      reached: metrics.limitReached,
    });

    const states = new DeviceStates(store);
    const connectors = new Map(config.ecosystems.map((one) => [one.name, connectorFor(one, metrics.limitReached)]));
    const alerts = alertsOn({
      store,
      turn: () => new Promise((resolve) => runtime.after(0, resolve)),
      reached: metrics.limitReached,
    });
    // What links share is not the work of the link that happens to use it: an error there belongs to nobody.
    const linkStore = ownerlessStore(store, processErrorOwners);
    const commit = commitOn({
      store: linkStore,
      gates: [fanGate({ connectors, stateOf: (deviceId) => federation.keeper.standing(deviceId)?.state })],
      reactions: [fanEcho((commandId) => federation.fans.sentAt(commandId)), alerts.react],
      committed: (commits, isUrgent) =>
        processErrorOwners.outside(() => {
          states.apply(commits);
          alerts.heard(commits);
          federation.heard(commits);
          events.heard(isUrgent);
          for (const { cause, changes } of commits) metrics.committed(cause.by, changes.length);
        }),
      report,
    });
    const devices = { ...deviceReading(store, states), ...deviceWriting(store, commit) };
    const erasedNames = new ErasedNames({ store, states, runtime });

    const membership = new Membership(await nodeId(store), store, runtime, store.nodeBus, () => sealing.keyIds);
    // What one node notes of a link or tells a reader, others compare with: it is on the clock that all share.
    const shared = { ...runtime, nowMs: () => membership.nowMs() };
    const federation = federationOn({
      store: linkStore,
      states,
      commit,
      membership,
      connectors,
      sealing,
      runtime: shared,
      countFault: metrics.linkFault,
      owners: processErrorOwners,
    });

    membership.onStoreReplaced(() => {
      states.forgetAll();
      void federation.keeper.startOver();
      events.hinted();
    });
    const addressSealing = new AddressSealing({
      store,
      runtime,
      seal: (address, webhookId) => sealing.seal(address, addressPlace(webhookId)),
    });
    const events = eventsOn({
      store,
      runtime: shared,
      sealing,
      logDays: config.logDays,
      isTold: () => openStore.nodeBus.areHeard,
      readersKnown: () => oauth.caughtUp(),
      streamsAtOnce: config.eventStreams,
      allowsPrivateWebhooks: config.allowPrivateWebhooks,
      userAgent: `breezeway/${version}`,
      sealsAddresses: () => addressSealing.isOn,
      reached: metrics.limitReached,
    });

    const idempotency = new IdempotentWrites({ store, sealer: sealing, runtime });

    const administration = administrationOn({
      identity,
      clients: oauth,
      commandTokens: oauth.commandTokens,
      federation,
      devices,
      alerts,
      addDevice: (device) => addDevice(openStore, device),
      removeDevice: (userId, deviceId) => removeDevice(openStore, states, userId, deviceId),
      linksOf: (userId) => federation.shownLinksOf(userId),
      links: () => federation.overview(),
      backup: async (to, withKey, tell) => {
        if (openStore.isShared) throw new BadParameter("to", backupOfPostgres);
        const taken = await backups.take(to, withKey, tell);
        // The backup is whole, whether or not its time can be kept.
        await noteBackup(openStore, Date.parse(taken.manifest.time)).catch((error) =>
          report.warn({ error }, "the time of the last backup could not be stored"),
        );
        return taken;
      },
      noteBackup: () => noteBackup(openStore),
      keys: keysOn({
        store,
        sealing,
        file: keyFile,
        sealedFor,
        giveUp: (tx, place) => giveUpValue(tx, sealing, place),
        gaveUp: async (lost) => {
          // Another node finds out by itself that the epoch of its link has changed.
          if (openStore.isShared) return;
          const devices = new Set(lost.map((value) => value.kind === "link" && value.deviceId));
          const links = await openStore.read((tx) => tx.links.ownedBy(membership.id));
          for (const link of links.filter(({ deviceId }) => devices.has(deviceId))) federation.keeper.adopt(link);
        },
        pause: (ms) => pause(runtime, ms, closing.signal),
      }),
      compact: (options, tell) => compaction.compact(options, tell),
      beginEpoch: async () => {
        const epoch = newEpochName();
        await openStore.transaction((tx) => tx.logEpoch.renew(epoch, true));
        return epoch;
      },
    });
    const openStore = store;
    const closing = new AbortController();
    const compaction = new Compaction({ space: store.space, runtime });
    const backups = new Backups({ folder: folder.path, keyFile, version, nowMs: runtime.nowMs });
    metrics.watch({
      store,
      links: () => federation.tally(),
      eventReaders: () => events.hub.readers,
      deliveries: () => deliveriesIn(openStore),
      disk: () => diskSpaceOf(folder.path),
      lastBackupMs: () => lastBackupMs(openStore),
    });
    const close = async () => {
      closing.abort();
      metrics.stop();
      await backups.stop();
      await openStore.close();
      unlock();
    };
    return {
      folder,
      store,
      address,
      identity,
      oauth,
      devices,
      erasedNames,
      alerts,
      commit,
      membership,
      federation,
      events,
      addressSealing,
      idempotency,
      compaction,
      metrics,
      administration,
      runtime,
      close,
    };
  } catch (error) {
    metrics.stop();
    await store?.close();
    unlock();
    throw error;
  }
}

const sweepEveryMs = 600_000;

export type Parts = Awaited<ReturnType<typeof openParts>>;

export interface Service {
  readonly baseUrl: string;
  readonly parts: Parts;
  /**
   * Takes requests for so long, while other nodes follow the links already; then finishes those under way, ends all
   * streams, and closes the store.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
  /** Reads again what may have been renewed: the certificate. */
  reload(): void;
}

/** Runs the service: what is linked is followed again, then the port opens, then commands are heard. */
export async function startService(
  config: Config,
  report: Report,
  runtime?: Runtime,
  { guests = () => [], ...options }: ServiceOptions = {},
): Promise<Service> {
  refuseInsecure(config);
  const parts = await whenFree(dataFolder(config.dataFolder), () => openParts(config, report, runtime, options));
  const { address, identity, oauth, devices, alerts, federation, events, membership, metrics, store } = parts;
  const stops: (() => Promise<void>)[] = [parts.close];
  /** One that fails doesn't keep the others from stopping. */
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) {
      await stop().catch((error) => report.error({ error }, "a part could not be stopped properly"));
    }
  };
  try {
    await refuseDemoAbroad(config, parts);
    await membership.start();
    stops.push(() => membership.stop());
    await oauth.start();
    stops.push(async () => oauth.stop());
    await federation.start();
    stops.push(() => federation.stop());
    await parts.addressSealing.start();
    stops.push(() => parts.addressSealing.stop());
    events.start();
    stops.push(() => events.stop());
    parts.erasedNames.start();
    stops.push(() => parts.erasedNames.stop());
    parts.idempotency.start();
    stops.push(() => parts.idempotency.stop());
    parts.compaction.start();
    stops.push(() => parts.compaction.stop());
    stops.push(listenToOthers(parts));
    const http = await startOutlets({
      host: config.host,
      port: config.port,
      trustedProxies: config.trustedProxies,
      corsOrigins: config.corsOrigins,
      limits: {
        connectionsPerSource: config.connectionsPerSource,
        // The other half of the open files is for the store and the ecosystem's streams.
        connections: Math.min(config.connections, Math.floor((openFileLimit() ?? Number.POSITIVE_INFINITY) / 2)),
      },
      certificate: certificateOf(config),
      heard: metrics.answered,
      reached: metrics.limitReached,
      report,
      callers: {
        bySecToken: (secToken) => identity.authenticate(secToken),
        byAccessToken: (accessToken) => oauth.verify(accessToken),
        byClientSecret: (credentials) => oauth.authenticateClient(credentials),
        clientHolding: (accessToken) => oauth.rememberedClientOf(accessToken),
      },
      oauth: { oauth, logoOf: (tenantId) => identity.logoOf(tenantId) },
      v3: {
        users: identity,
        devices,
        alerts,
        federation,
        events,
        tokens: oauth,
        idempotency: parts.idempotency,
        webhooks: events.webhooks,
        cursors: cursorsWith(await cursorKey(store)),
      },
      federation,
      sessions: identity,
      platform: platformCalls({
        identity,
        devices,
        alerts,
        federation,
        counted: metrics.platformCall,
        reached: metrics.limitReached,
      }),
      checks: {
        store: () => store.health(),
        links: async () => ({ followed: federation.keeper.followed }),
      },
      metrics: { text: () => metrics.text(), token: config.metricsToken },
      version,
      baseUrl: () => address.baseUrl,
      guests: guests(parts),
    });
    if (http.certificate) metrics.watchCertificate(http.certificate);
    let drainMs = 0;
    stops.push(() => http.stop({ drainMs }));
    address.listensAt = http.url;
    address.baseUrl ||= http.url;
    stops.push(startSweeping(parts));
    if (!config.databaseUrl) {
      const control = await listenForCommands(parts);
      stops.push(() => control.stop());
    }
    // At once, while requests that are under way are still answered: nobody has to wait for this node's links.
    if (store.isShared) stops.push(async () => void leave(parts, report));
    return {
      baseUrl: address.baseUrl,
      parts,
      stop(options) {
        drainMs = options?.drainMs ?? 0;
        return stopAll();
      },
      reload: () => http.reloadCertificate(),
    };
  } catch (error) {
    await stopAll();
    throw error instanceof CertificateProblem ? new ConfigurationError([error.message]) : error;
  }
}

/** What other nodes do is looked at as soon as they hint at it; what they fail to say is found all the same. */
function listenToOthers({ store, events, federation, oauth }: Parts): () => Promise<void> {
  const heed: Readonly<Record<Hint, () => void>> = {
    log: () => events.hinted(),
    commands: () => federation.fans.wake(),
    revocations: () => oauth.hinted(),
    links: () => federation.keeper.wake(),
  };
  const stop = store.nodeBus.hear((hint) => heed[hint]());
  return async () => stop();
}

/** Gives the links back and leaves the other nodes, who share them out among themselves. */
async function leave({ federation, membership }: Parts, report: Report): Promise<void> {
  try {
    await federation.handBack();
    await membership.stop();
  } catch (error) {
    report.warn({ error }, "this node could not take its leave; the others will find out");
  }
}

/** Removes what has expired. Each part sweeps by itself: one that fails doesn't keep the other from it. */
function startSweeping({ identity, oauth, runtime }: Parts): () => Promise<void> {
  const sweeps = [() => identity.sweep(), () => oauth.tokens.sweep()].map((sweep) => {
    const task = new BackgroundTask("sweep", "what has expired could not be removed", runtime);
    return async () => {
      try {
        await sweep();
        task.succeeded();
      } catch (error) {
        task.failed(error);
      }
    };
  });
  const timer = setInterval(() => void Promise.all(sweeps.map((sweep) => sweep())), sweepEveryMs).unref();
  return async () => clearInterval(timer);
}

function certificateOf({ tlsCertFile, tlsKeyFile }: Config) {
  return tlsCertFile && tlsKeyFile ? { certFile: tlsCertFile, keyFile: tlsKeyFile } : undefined;
}

async function deliveriesIn(store: OpenStore) {
  const { waiting, dueMs, nowMs } = await store.read(async (tx) => ({
    ...(await tx.deliveries.backlog(100_000)),
    nowMs: await tx.clock.nowMs(),
  }));
  return { waiting, lagMs: dueMs === null ? 0 : Math.max(0, nowMs - dueMs) };
}

function listenForCommands({ folder, administration, address }: Parts): Promise<ControlServer> {
  return serveControl(folder.placeForSocket(), (command, input, tell) =>
    administration.run(command, input, address, tell),
  );
}

const backupOfPostgres =
  "This store is PostgreSQL, which is backed up with its own tools: pg_dump, or its write-ahead log. Then run breezeway backed-up, so that the metrics show when (docs/operations.md).";

function connectorFor({ name, apiUrl, allowedHosts }: EcosystemConfig, reached: ReachLimit): Connector {
  return nestConnector({ name, apiUrl, allowedHosts, reached });
}
