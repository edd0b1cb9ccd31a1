import { commandStates } from "../home/command-states.ts";
import type { Build } from "../model/build.ts";
import { causes } from "../model/cause.ts";
import { type LimitName, limits as limitTable } from "../model/limits.ts";
import { type BackgroundTaskName, backgroundTasks } from "../runtime/background-task-names.ts";
import { linkStates } from "../store/tables/links.ts";
import { type CountedCaller, clientRequests } from "./client-requests.ts";
import type { StoreObserver } from "./observed-store.ts";
import { measureProcess } from "./process.ts";
import { Registry } from "./registry.ts";
import { type Sources, watch } from "./watched.ts";

export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, never the path: a label must not hold an id or a secret. */
  readonly route: string;
  readonly status: number;
  readonly tookMs: number;
  /** A stream lasts until one side ends it, so its duration is not recorded. */
  readonly isStream: boolean;
  /** The code of the error that was answered; undefined when there was none. */
  readonly code?: string | undefined;
  /** Undefined when the credentials were not checked. */
  readonly caller?: CountedCaller | undefined;
}

/** Label values that other parts define. Counters with these labels have all their series from the start, with 0. */
export interface KnownLabels {
  readonly linkFaultKinds: readonly string[];
  readonly operations: readonly string[];
  readonly faults: readonly number[];
}

export interface Metrics {
  answered(request: AnsweredRequest): void;
  /** A commit to a device is durable. */
  committed(by: string, changes: number): void;
  /** A group of transactions became durable together. */
  groupCommitted(transactions: number, syncMs: number): void;
  /** A caller was refused, or held up, because of a limit (docs/limits.md). */
  limitReached(limit: LimitName): void;
  /** An unexpected error in one link's work. */
  linkFault(kind: string): void;
  /** Messages of a feed with the events of all accounts, and what became of them. */
  feedMessages(outcome: FeedOutcome, messages: number): void;
  /** A platform call was answered; `fault` is undefined when it succeeded. */
  platformCall(operation: string, fault: number | undefined): void;
  /** A periodic task of this node has failed. */
  backgroundFailure(task: BackgroundTaskName): void;
  readonly store: StoreObserver;
  /** Adds the metrics that are read from these sources. */
  watch(sources: Sources): void;
  /** Called only when the service itself terminates TLS. */
  watchCertificate(status: () => { readonly expiresMs: number; readonly isRefused: boolean }): void;
  text(): Promise<string>;
  stop(): void;
}

interface LastAnswer {
  readonly method: string;
  readonly status: number;
  readonly requests: { count: number };
  observeDuration: ((seconds: number) => void) | undefined;
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const groupSizeBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const feedOutcomes = ["stored", "unknown", "unreadable", "dropped"] as const;
type FeedOutcome = (typeof feedOutcomes)[number];

/** The values of the label `where` of internal errors. */
const interfaces = ["v3", "oauth2", "adaptor", "platform", "other"] as const;

export function metricsOf(
  { version, commit, schema }: Build,
  { linkFaultKinds, operations, faults }: KnownLabels,
): Metrics {
  const registry = new Registry();
  registry.gauge(
    "breezeway_build_info",
    "Which Breezeway this is, its newest schema version, and on which Node it runs.",
    () => [[{ version, commit, schema: String(schema), node: process.versions.node }, 1]],
  );
  const requests = registry.counter(
    "breezeway_http_requests_total",
    "Requests that were answered.",
    ...(["method", "route", "status"] as const),
  );
  const countForClient = clientRequests(registry);
  const durations = registry.histogram(
    "breezeway_http_request_duration_seconds",
    "How long answers took, but for streams.",
    durationBuckets,
    ...(["route"] as const),
  );
  const internalErrors = registry.counter(
    "breezeway_internal_errors_total",
    "Requests that failed with an unexpected error, by the interface that was called; the log has each.",
    ...(["where"] as const),
  );
  internalErrors.initialize(interfaces);
  const calls = registry.counter("breezeway_platform_calls_total", "Platform calls, by operation.", "operation");
  calls.initialize(operations);
  const faultCounts = registry.counter(
    "breezeway_platform_faults_total",
    "Faults that platform calls were answered with, by number (docs/interface.md); 199 is ours.",
    ...(["fault"] as const),
  );
  faultCounts.initialize(faults.map(String));
  const commits = registry.counter("breezeway_commits_total", "Commits to devices, by cause.", ...(["by"] as const));
  commits.initialize(causes);
  const changes = registry.counter("breezeway_attribute_changes_total", "Attributes that commits wrote.");
  const transactions = registry.counter("breezeway_store_transactions_total", "Transactions that became durable.");
  const unavailable = registry.counter(
    "breezeway_store_unavailable_total",
    "Transactions that failed because the store was unavailable.",
  );
  const groupSizes = registry.histogram(
    "breezeway_store_group_size",
    "Transactions that became durable with one COMMIT.",
    groupSizeBuckets,
  );
  const syncs = registry.histogram(
    "breezeway_store_sync_seconds",
    "How long the COMMITs of groups took.",
    durationBuckets,
  );
  const fired = registry.counter("breezeway_alerts_fired_total", "Alerts that fired.");
  const noted = registry.counter(
    "breezeway_alerts_noted_total",
    "Firings of alerts that could not execute all their actions.",
  );
  const fans = registry.counter("breezeway_fan_requests_total", "Fan requests, by state.", ...(["state"] as const));
  fans.initialize(commandStates);
  const commands = registry.counter(
    "breezeway_commands_total",
    "Commands to things, by state.",
    ...(["state"] as const),
  );
  commands.initialize(commandStates);
  const links = registry.counter(
    "breezeway_link_changes_total",
    "Links that changed, by their new state.",
    ...(["state"] as const),
  );
  links.initialize(linkStates);
  const blind = registry.counter("breezeway_blind_intervals_total", "Blind intervals of links that have ended.");
  const blindSeconds = registry.counter(
    "breezeway_blind_seconds_total",
    "The total duration of blind intervals that have ended.",
  );
  const attempts = registry.counter(
    "breezeway_webhook_attempts_total",
    "Attempts to deliver to webhooks, by outcome.",
    ...(["outcome"] as const),
  );
  attempts.initialize(["delivered", "failed", "postponed"]);
  const limitsReached = registry.counter(
    "breezeway_limit_reached_total",
    "Requests and connections that a limit refused or held up, by limit (docs/limits.md).",
    ...(["limit"] as const),
  );
  limitsReached.initialize(Object.keys(limitTable));
  const linkFaults = registry.counter(
    "breezeway_link_faults_total",
    "Unexpected errors in the work for one link, by where they arose (docs/operations.md).",
    ...(["kind"] as const),
  );
  linkFaults.initialize(linkFaultKinds);
  const feedMessages = registry.counter(
    "breezeway_feed_messages_total",
    "Messages of ecosystems' feeds: stored for links, of accounts without a link, unreadable, or dropped at a limit.",
    ...(["outcome"] as const),
  );
  feedMessages.initialize(feedOutcomes);
  const failures = registry.counter(
    "breezeway_background_failures_total",
    "Failures of periodic tasks, by task.",
    ...(["task"] as const),
  );
  failures.initialize(backgroundTasks);
  /** Cache of counters: most requests to a route have the method and status of the last one. */
  const lastByRoute = new Map<string, LastAnswer>();
  const stopProcess = measureProcess(registry);
  return {
    answered({ method, route, status, tookMs, isStream, code, caller }) {
      countForClient(caller, status);
      if (code === "internal_error") internalErrors.add(1, interfaceOf(route));
      let last = lastByRoute.get(route);
      if (last?.method !== method || last.status !== status) {
        last = { method, status, requests: requests.of(method, route, String(status)), observeDuration: undefined };
        lastByRoute.set(route, last);
      }
      last.requests.count += 1;
      if (isStream) return;
      last.observeDuration ??= durations.of(route);
      last.observeDuration(tookMs / 1000);
    },
    committed(by, count) {
      commits.add(1, by);
      changes.add(count);
    },
    groupCommitted(count, syncMs) {
      groupSizes.observe(count);
      syncs.observe(syncMs / 1000);
    },
    limitReached: (limit) => limitsReached.add(1, limit),
    platformCall(operation, fault) {
      calls.add(1, operation);
      if (fault !== undefined) faultCounts.add(1, String(fault));
    },
    linkFault: (kind) => linkFaults.add(1, kind),
    feedMessages: (outcome, messages) => feedMessages.add(messages, outcome),
    backgroundFailure: (task) => failures.add(1, task),
    store: {
      transaction: (isAvailable) => (isAvailable ? transactions : unavailable).add(1),
      logged({ kind, body }) {
        if (kind === "alert" || kind === "thingAlert") {
          fired.add(1);
          if ((JSON.parse(body) as { note?: string }).note !== undefined) noted.add(1);
        } else if (kind === "command") fans.add(1, stateIn(body));
        else if (kind === "thingCommand") commands.add(1, stateIn(body));
        else if (kind === "link") links.add(1, stateIn(body));
      },
      blind({ fromMs, toMs }) {
        blind.add(1);
        blindSeconds.add((toMs - fromMs) / 1000);
      },
      delivery: (outcome) => attempts.add(1, outcome),
    },
    watch: (sources) => watch(registry, sources),
    watchCertificate(status) {
      registry.gauge(
        "breezeway_tls_certificate_expiry_timestamp_seconds",
        "When the TLS certificate in use expires, as Unix time.",
        () => status().expiresMs / 1000,
      );
      registry.gauge(
        "breezeway_tls_certificate_refused",
        "Whether the changed certificate files are invalid, so that the former certificate is still in use.",
        () => (status().isRefused ? 1 : 0),
      );
    },
    text: () => registry.text(),
    stop: stopProcess,
  };
}

/** The interface of a route, from the first segment of its path. */
function interfaceOf(route: string): (typeof interfaces)[number] {
  const [, first = ""] = route.split("/");
  if (first === "zdk" || first === "acc") return "platform";
  if (first === ".well-known") return "oauth2";
  return interfaces.find((name) => name === first) ?? "other";
}

function stateIn(body: string): string {
  return (JSON.parse(body) as { state: string }).state;
}
