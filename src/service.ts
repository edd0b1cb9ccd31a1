import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { alertsOn } from "./alerts/alerts.ts";
import { administrationOn } from "./cli/administration.ts";
import { type ControlServer, serveControl } from "./cli/control-socket.ts";
import { type Config, ConfigurationError, type EcosystemConfig } from "./config.ts";
import { commitOn } from "./devices/commit.ts";
import { addDevice, removeDevice } from "./devices/inventory.ts";
import { deviceReading } from "./devices/read.ts";
import { DeviceStates } from "./devices/states.ts";
import { deviceWriting } from "./devices/write.ts";
import type { Connector } from "./ecosystem/connector.ts";
import { nestConnector } from "./ecosystem/nest/connector.ts";
import { eventsOn } from "./events/events.ts";
import { fanEcho } from "./federation/fan-echo.ts";
import { fanGate } from "./federation/fan-gate.ts";
import { federationOn } from "./federation/federation.ts";
import { cursorsWith } from "./http/cursor.ts";
import type { GuestRoute } from "./http/routes.ts";
import { startHttp } from "./http/server.ts";
import { identityOn } from "./identity/identity.ts";
import { isOnLoopback } from "./loopback.ts";
import type { NodeId } from "./model/ids.ts";
import type { Report, Surroundings } from "./model/surroundings.ts";
import { Membership } from "./nodes/membership.ts";
import { oauthOn } from "./oauth/oauth.ts";
import { platformCalls } from "./platform/calls.ts";
import { dataFolder } from "./store/data-folder.ts";
import { openPostgres } from "./store/postgres/store.ts";
import { keyFromFile, sealingWith } from "./store/sealing.ts";
import type { OpenStore } from "./store/seam.ts";
import { openSqlite } from "./store/sqlite/store.ts";
import { realSurroundings } from "./surroundings.ts";
import { version } from "./version.ts";

/**
 * Builds all parts, in order, and hands each what it needs; nothing listens and nothing is followed yet. Commands use
 * the parts as they are, `startService` brings them to life.
 */
export async function openParts(config: Config, report: Report, surroundings = realSurroundings(report)) {
  const folder = dataFolder(config.dataFolder);
  mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  const unlock = config.databaseUrl ? () => undefined : folder.lock();
  let store: OpenStore | undefined;
  try {
    store = config.databaseUrl
      ? await openPostgres({ url: config.databaseUrl })
      : await openSqlite({ folder: folder.path, nowMs: surroundings.nowMs });
    const sealing = await sealingFor(store, config.keyFile ?? folder.keyFile);
    const failureLimits = { failuresPerSource: config.failuresPerSource };
    const identity = identityOn({
      store,
      nowMs: surroundings.nowMs,
      report,
      failureLimits,
      grantsEnded: (grantIds) => oauth.grantsEnded(grantIds),
      devicesRemoved: (deviceIds) => {
        for (const deviceId of deviceIds) states.forget(deviceId);
      },
    });

    // With a free port, it is known only once that is taken.
    const address = { baseUrl: config.baseUrl ?? "" };
    const oauth = oauthOn({
      store,
      identity,
      sealer: sealing,
      surroundings,
      issuer: () => address.baseUrl,
      lifetimes: { accessSeconds: config.accessTokenSeconds, refreshSeconds: config.refreshTokenDays * 86_400 },
      failureLimits,
    });

    const states = new DeviceStates(store);
    const connectors = new Map(config.ecosystems.map((one) => [one.name, connectorFor(one)]));
    const alerts = alertsOn({
      store,
      turn: () => new Promise((resolve) => surroundings.after(0, resolve)),
    });
    const commit = commitOn({
      store,
      gates: [fanGate({ connectors, stateOf: (deviceId) => federation.keeper.standing(deviceId)?.state })],
      reactions: [fanEcho((commandId) => federation.fans.sentAt(commandId)), alerts.react],
      committed: (commits, isUrgent) => {
        states.apply(commits);
        alerts.heard(commits);
        federation.heard(commits);
        events.heard(isUrgent);
      },
      report,
    });
    const devices = { ...deviceReading(store, states), ...deviceWriting(store, commit) };

    const membership = new Membership(await nodeId(store), store, surroundings);
    const federation = federationOn({ store, states, commit, membership, connectors, sealing, surroundings });

    const events = eventsOn({
      store,
      surroundings,
      sealing,
      logDays: config.logDays,
      streamsAtOnce: config.eventStreams,
      allowsPrivateWebhooks: config.allowPrivateWebhooks,
      userAgent: `breezeway/${version}`,
    });

    const administration = administrationOn({
      identity,
      clients: oauth,
      federation,
      addDevice: (device) => addDevice(openStore, device),
      removeDevice: (userId, deviceId) => removeDevice(openStore, states, userId, deviceId),
      links: () => openStore.read((tx) => tx.links.count()),
    });
    const openStore = store;
    const close = async () => {
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
      alerts,
      commit,
      membership,
      federation,
      events,
      administration,
      close,
    };
  } catch (error) {
    await store?.close();
    unlock();
    throw error;
  }
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

export interface Service {
  readonly baseUrl: string;
  readonly parts: Parts;
  /** Stops taking requests, finishes those under way, ends all streams, and closes the store. */
  stop(): Promise<void>;
}

/** Runs the service: what is linked is followed again, then the port opens, then commands are heard. */
export async function startService(
  config: Config,
  report: Report,
  surroundings?: Surroundings,
  guests: (parts: Parts) => readonly GuestRoute[] = () => [],
): Promise<Service> {
  const parts = await openParts(config, report, surroundings);
  const { address, identity, oauth, devices, alerts, federation, events, membership, store } = parts;
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
    events.start();
    stops.push(() => events.stop());
    const http = await startHttp({
      host: config.host,
      port: config.port,
      trustedProxies: config.trustedProxies,
      corsOrigins: config.corsOrigins,
      report,
      callers: {
        bySecToken: (secToken) => identity.authenticate(secToken),
        byAccessToken: (accessToken) => oauth.verify(accessToken),
        byClientSecret: (credentials) => oauth.authenticateClient(credentials),
      },
      oauth: { oauth, logoOf: (tenantId) => identity.logoOf(tenantId) },
      v3: {
        users: identity,
        devices,
        alerts,
        federation,
        events,
        tokens: oauth,
        webhooks: events.webhooks,
        cursors: cursorsWith(await cursorKey(store)),
      },
      federation,
      platform: platformCalls({ identity, devices, alerts, federation, report }),
      checks: {
        store: () => store.health(),
        links: async () => ({ followed: federation.keeper.followed }),
      },
      version,
      baseUrl: () => address.baseUrl,
      guests: guests(parts),
    });
    stops.push(() => http.stop());
    address.baseUrl ||= http.url;
    const sweep = () => Promise.all([identity.sweep(), oauth.tokens.sweep()]);
    const sweeping = setInterval(() => void sweep().catch(() => undefined), 600_000).unref();
    stops.push(async () => clearInterval(sweeping));
    if (!config.databaseUrl) {
      const control = await listenForCommands(parts);
      stops.push(() => control.stop());
    }
    return { baseUrl: address.baseUrl, parts, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** The password of the demo's user is known to everybody (demo/keys.ts): with it, only this machine may reach the store. */
async function refuseDemoAbroad(config: Config, { store, identity }: Parts): Promise<void> {
  if (isOnLoopback(config)) return;
  const demoUser = await store.read((tx) => tx.settings.get("demo_user"));
  if (demoUser === undefined || !(await identity.listUsers()).some(({ userId }) => String(userId) === demoUser)) return;
  throw new ConfigurationError([
    `BREEZEWAY_DATA: ${config.dataFolder} holds the demo, whose password is known. Choose another folder, or remove the demo's user with breezeway user remove --user ${demoUser}; until then it is served on loopback only`,
  ]);
}

function listenForCommands({ folder, administration, address }: Parts): Promise<ControlServer> {
  return serveControl(folder.controlSocket, (command, input) => administration.run(command, input, address));
}

/** The key is checked before it is needed: with another one, every stored token would be lost to us. */
async function sealingFor(store: OpenStore, keyFile: string) {
  let key: Uint8Array;
  try {
    key = keyFromFile(keyFile);
  } catch (error) {
    throw new ConfigurationError([(error as Error).message.replace(/\.$/, "")]);
  }
  const sealing = sealingWith(key);
  const usedKeyId = await store.transaction((tx) => tx.settings.getOrKeep("sealing_key_id", sealing.keyId));
  if (usedKeyId !== sealing.keyId) {
    throw new ConfigurationError([
      `BREEZEWAY_KEY_FILE: ${keyFile} holds key ${sealing.keyId}, but this store's tokens are sealed with key ${usedKeyId}`,
    ]);
  }
  return sealing;
}

/** Shared by all nodes and kept for good: a list begun yesterday on another node goes on today on this one. */
function cursorKey(store: OpenStore): Promise<string> {
  const fresh = randomBytes(32).toString("base64url");
  return store.transaction((tx) => tx.settings.getOrKeep("cursor_key", fresh));
}

/** On SQLite the one node keeps its name, and with it its links; on a shared store each start is a new node. */
async function nodeId(store: OpenStore): Promise<NodeId> {
  const fresh = `node-${randomUUID()}`;
  return (store.isShared ? fresh : await store.transaction((tx) => tx.settings.getOrKeep("node_id", fresh))) as NodeId;
}

function connectorFor({ name, apiUrl, allowedHosts }: EcosystemConfig): Connector {
  return nestConnector({ name, apiUrl, allowedHosts });
}
