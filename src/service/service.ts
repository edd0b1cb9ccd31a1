import { serveControl } from "../cli/administration/control-socket.ts";
import { type Config, ConfigurationError, refuseInsecure } from "../config/config.ts";
import { CertificateProblem } from "../http/connection/certificate.ts";
import { openFileLimit } from "../http/connection/open-files.ts";
import type { Callers } from "../http/request/caller.ts";
import type { AddedRoute } from "../http/routes.ts";
import { OperatorCallTurns } from "../operators/call-turns.ts";
import type { Operator } from "../operators/operator.ts";
import type { ConsoleAdditions } from "../outlets/console/console-additions.ts";
import { operatorCookie } from "../outlets/console/operator-cookie.ts";
import { platformCalls } from "../outlets/platform/calls.ts";
import { type OutletParts, startOutlets } from "../outlets/serve.ts";
import { cursorsWith } from "../outlets/v3/cursor.ts";
import { runWithLines, setPresentOwner, withRequestLines } from "../runtime/process/request-lines.ts";
import type { Logger, Runtime } from "../runtime/runtime.ts";
import { dataFolder } from "../store/disk/data-folder.ts";
import type { Hint } from "../store/node-bus.ts";
import { build } from "./build.ts";
import { refuseRemoteDemo } from "./demo-guard.ts";
import { startLinkHours } from "./link-hours.ts";
import { type OpenOptions, openParts, type Parts } from "./parts.ts";
import { storePublicAddress } from "./public-address.ts";
import { cursorKey } from "./stored-identifiers.ts";
import { startSweeping } from "./sweeping.ts";
import { whenFree } from "./waiting-for-start.ts";

export interface ServiceOptions extends OpenOptions {
  /** Routes that an embedding program adds, such as the demo's page. */
  readonly addedRoutes?: (parts: Parts) => readonly AddedRoute[];
  /** What an embedding program adds to the console. */
  readonly console?: ConsoleAdditions;
}

export interface Service {
  readonly baseUrl: string;
  readonly parts: Parts;
  /**
   * The service goes on answering for `drainMs`, while other nodes already take over its links. Then it finishes the
   * requests in progress, ends the streams of its clients and those from the ecosystems, and closes the store.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
  /** Reads the certificate files again. */
  reload(): void;
}

/**
 * Starts the service. The node becomes visible to other nodes, follows its links, opens its port and, on SQLite, takes
 * commands over a socket. It stops in the reverse order, but on PostgreSQL it hands its links back first.
 */
export async function startService(
  config: Config,
  log: Logger,
  injectedRuntime?: Runtime,
  { addedRoutes = () => [], console: additions, ...options }: ServiceOptions = {},
): Promise<Service> {
  refuseInsecure(config);
  const report = withRequestLines(log);
  const runtime = injectedRuntime && { ...injectedRuntime, report: withRequestLines(injectedRuntime.report) };
  const parts = await whenFree(dataFolder(config.dataFolder), () => openParts(config, report, runtime, options));
  const { address, oauth, federation, events, membership, metrics, store } = parts;
  const stops: (() => unknown)[] = [parts.close];
  /** A part that fails to stop does not keep the others from stopping. */
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        report.error({ error }, "a part could not be stopped properly");
      }
    }
  };
  try {
    await refuseRemoteDemo(config, parts);
    parts.countStorage.start();
    stops.push(() => parts.countStorage.stop());
    await membership.start();
    stops.push(() => membership.stop());
    await parts.quotaSettings.start();
    stops.push(() => parts.quotaSettings.stop());
    await oauth.start();
    stops.push(() => oauth.stop());
    parts.thingForm.start();
    stops.push(() => parts.thingForm.stop());
    await federation.start();
    stops.push(() => federation.stop());
    stops.push(() => parts.outgoing.stop());
    await parts.addressSealing.start();
    stops.push(() => parts.addressSealing.stop());
    await parts.linkSessions.start();
    stops.push(() => parts.linkSessions.stop());
    const { ownDeadlines, typeWork, erasedNames, idempotency, compaction } = parts;
    const { reporter } = parts.assistants;
    const { nodeQuestions } = parts;
    const started = [events, reporter, ownDeadlines, typeWork, erasedNames, idempotency, compaction];
    for (const part of [...started, nodeQuestions]) {
      part.start();
      stops.push(() => part.stop());
    }
    stops.push(listenToHints(parts));
    // Right behind the last answer: background work must not wait for costly patterns while the node stops.
    stops.push(() => parts.stopThreads());
    const http = await startOutlets(
      await outletParts(config, report, parts, { addedRoutes: addedRoutes(parts), additions }),
    );
    if (http.certificate) metrics.watchCertificate(http.certificate);
    let drainMs = 0;
    stops.push(() => http.stop({ drainMs }));
    address.listensAt = http.url;
    address.baseUrl ||= http.url;
    await storePublicAddress(store, address.baseUrl);
    stops.push(startSweeping(parts));
    stops.push(startLinkHours(parts));
    if (!config.databaseUrl) {
      const control = await listenForCommands(parts);
      stops.push(() => control.stop());
    }
    // Stops first and is not waited for: other nodes take the links over while this node still answers requests.
    if (store.isShared) stops.push(() => void leaveOtherNodes(parts, report));
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

async function outletParts(
  config: Config,
  report: Logger,
  parts: Parts,
  {
    addedRoutes,
    additions,
  }: { readonly addedRoutes: readonly AddedRoute[]; readonly additions: ConsoleAdditions | undefined },
): Promise<OutletParts> {
  const {
    address,
    identity,
    operators,
    administration,
    oauth,
    devices,
    provisioning,
    batches,
    alerts,
    federation,
    events,
    idempotency,
    metrics,
    store,
    deviceTypes,
    linkSessions,
  } = parts;
  const { tlsCertFile, tlsKeyFile } = config;
  const admit: Callers["admit"] = (caller, mayRefuse) => {
    const holder = caller.kind === "user" ? caller.userId : "clientId" in caller ? caller.clientId : undefined;
    setPresentOwner({ tenant: String(caller.tenantId), holder: String(holder) });
    parts.quotas.admitRequest(caller, mayRefuse);
  };
  const ofOperator = async (found: Promise<Operator>) => {
    const operator = await found;
    setPresentOwner({ tenant: "operators", holder: String(operator.operatorId) });
    return operator;
  };
  return {
    host: config.host,
    port: config.port,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    limits: {
      connectionsPerSource: config.connectionsPerSource,
      // The other half of the open files is for the store and the ecosystem's streams.
      connections: Math.min(config.connections, Math.floor((openFileLimit() ?? Number.POSITIVE_INFINITY) / 2)),
    },
    certificate: tlsCertFile && tlsKeyFile ? { certFile: tlsCertFile, keyFile: tlsKeyFile } : undefined,
    onExchange: (exchange) => {
      metrics.answered(exchange);
      parts.recentRequests.add(exchange);
    },
    onLimitReached: metrics.limitReached,
    report,
    runWithLines,
    callers: {
      bySecToken: (secToken) => identity.authenticate(secToken),
      byAccessToken: (accessToken) => oauth.verify(accessToken),
      async byClientSecret(credentials) {
        const client = await oauth.authenticateClient(credentials);
        setPresentOwner({ tenant: String(client.tenantId), holder: client.id });
        return client;
      },
      admit,
      operators: {
        bySession: (secret, isUse) => ofOperator(operators.bySession(secret, isUse)),
        byToken: (token) => ofOperator(operators.byToken(token)),
        callTurns: new OperatorCallTurns(metrics.limitReached),
        cookie: operatorCookie(() => address.baseUrl),
        baseUrl: () => address.baseUrl,
      },
    },
    admin: { administration },
    console: {
      operators,
      administration,
      nowMs: parts.runtime.nowMs,
      openId: parts.openId,
      events,
      watchOperator: (operator, ended) => parts.operatorWatch.watch(operator, ended),
      ecosystems: config.ecosystems.map(({ name }) => name),
      additions,
    },
    oauth: { oauth, logoOf: (tenantId) => identity.logoOf(tenantId) },
    v3: {
      users: identity,
      devices,
      provisioning,
      batches,
      deviceTypes,
      audit: identity.audit,
      things: parts.things,
      alerts,
      federation,
      control: parts.control,
      events,
      tokens: oauth,
      quotas: parts.quotas,
      idempotency,
      webhooks: events.webhooks,
      linkSessions,
      cursors: cursorsWith(await cursorKey(store)),
    },
    linkPages: { linkSessions },
    account: { account: parts.account, identity, nowMs: () => parts.membership.nowMs() },
    googleHome: { assistants: parts.assistants, tokens: oauth },
    alexa: { alexa: parts.alexa },
    federation,
    sessions: identity,
    platform: platformCalls({
      identity,
      devices,
      alerts,
      federation,
      admit,
      countCall: metrics.platformCall,
      onLimitReached: metrics.limitReached,
    }),
    checks: {
      store: () => store.health(),
      links: async () => ({ followed: federation.keeper.followed }),
    },
    metrics: { text: () => metrics.text(), token: config.metricsToken },
    build,
    baseUrl: () => address.baseUrl,
    addedRoutes,
  };
}

/** A hint, of this node or another, makes this node read the store at once. A lost hint only delays that. */
function listenToHints(parts: Parts): () => void {
  const { store, events, assistants, federation, feeds, oauth, nodeQuestions, quotaSettings } = parts;
  const handlers: Readonly<Record<Hint, () => void>> = {
    log: () => {
      events.hinted();
      assistants.reporter.hinted();
    },
    commands: () => {
      federation.fans.wake();
      federation.commands.wake();
    },
    revocations: () => oauth.hinted(),
    links: () => federation.keeper.wake(),
    feed: () => feeds.wake(),
    questions: () => nodeQuestions.hinted(),
    quotas: () => quotaSettings.hinted(),
  };
  return store.nodeBus.onHint((hint) => handlers[hint]());
}

/** Hands the links back, so that other nodes can claim them at once, then ends this node's membership. */
async function leaveOtherNodes({ federation, membership }: Parts, report: Logger): Promise<void> {
  try {
    await federation.handBack();
    await membership.stop();
  } catch (error) {
    report.warn({ error }, "this node could not hand its links back; other nodes claim them when its lease ends");
  }
}

function listenForCommands({ folder, administration, address }: Parts) {
  return serveControl(folder.prepareSocket(), (command, input, onProgress, caller) =>
    administration.run(command, input, { service: address, onProgress, caller }),
  );
}
