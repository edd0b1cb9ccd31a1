import { isIP } from "node:net";
import { limits } from "../model/limits.ts";
import {
  Complaint,
  type EcosystemConfig,
  fileText,
  httpUrl,
  list,
  readEcosystems,
  wholeNumber,
} from "./setting-values.ts";

export type { EcosystemConfig } from "./setting-values.ts";

/** Everything that can be set about a running Breezeway. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: it follows the address that is listened on. */
  readonly baseUrl: string | undefined;
  readonly dataFolder: string;
  /** Undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Undefined: beside the data. */
  readonly keyFile: string | undefined;
  readonly ecosystems: readonly EcosystemConfig[];
  readonly logLevel: LogLevel;
  /** Both or none. */
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly connectionsPerSource: number;
  readonly connections: number;
  readonly allowInsecure: boolean;
  readonly accessTokenSeconds: number;
  readonly refreshTokenDays: number;
  readonly failuresPerSource: number;
  readonly logDays: number;
  readonly eventStreams: number;
  readonly allowPrivateWebhooks: boolean;
  /** Undefined: figures are for this machine alone. */
  readonly metricsToken: string | undefined;
  readonly drainSeconds: number;
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One setting: its variable, the flag that goes before it, what it means, and how its text is checked. */
export interface Setting<Value = unknown> {
  readonly variable: string;
  readonly flag: string;
  readonly shown: string;
  readonly meaning: string;
  /** A secret can also come from the file that `<variable>_FILE` names. */
  readonly isSecret?: boolean;
  /** Undefined text means that it isn't set. Throws a complaint that says what is allowed. */
  readonly read: (text: string | undefined) => Value;
}

export const settings = {
  host: setting("BREEZEWAY_HOST", "127.0.0.1", "The address to listen on.", (text = "127.0.0.1") => {
    if (isIP(text) === 0 && text !== "localhost") throw new Complaint("must be an IP address or localhost");
    return text;
  }),
  port: setting("BREEZEWAY_PORT", "8080", "The port to listen on; 0 takes a free one.", (text = "8080") => {
    if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Complaint("must be a port from 0 to 65535");
    return Number(text);
  }),
  baseUrl: setting(
    "BREEZEWAY_BASE_URL",
    "`http://<host>:<port>`",
    "The address under which clients reach the service. Never taken from a request.",
    (text) => (text === undefined ? undefined : httpUrl(text)),
  ),
  dataFolder: setting(
    "BREEZEWAY_DATA",
    "./breezeway-data",
    "The folder for the store, the key and the control socket.",
    (text = "./breezeway-data") => text,
  ),
  databaseUrl: setting(
    "BREEZEWAY_DATABASE_URL",
    "SQLite in the data folder",
    "`postgres://…` to use PostgreSQL (15 or later), with any number of nodes.",
    (text) => {
      if (text !== undefined && !/^postgres(ql)?:\/\/./.test(text)) throw new Complaint("must begin with postgres://");
      return text;
    },
    { isSecret: true },
  ),
  keyFile: setting(
    "BREEZEWAY_KEY_FILE",
    "breezeway.key in the data folder",
    "The file with the key that ecosystem tokens are sealed with; made for a new store when missing, never for one that has sealed values. All nodes need the same.",
    (text) => text,
  ),
  ecosystems: setting(
    "BREEZEWAY_ECOSYSTEMS",
    "`nest` at the simulator's address",
    'The home ecosystems, as JSON or as a file of it: `{"nest":{"protocol":"nest","apiUrl":"…","allowedHosts":["…"]}}`.',
    readEcosystems,
  ),
  logLevel: setting("BREEZEWAY_LOG_LEVEL", "info", `How much is logged: ${logLevels.join(", ")}.`, (text = "info") => {
    const level = logLevels.find((known) => known === text);
    if (!level) throw new Complaint(`must be one of ${logLevels.join(", ")}`);
    return level;
  }),
  tlsCertFile: setting(
    "BREEZEWAY_TLS_CERT_FILE",
    "none: plain HTTP",
    "The file with the certificate, and those between it and its authority, in PEM. A new one is shown within a minute, or at SIGHUP.",
    (text) => text,
  ),
  tlsKeyFile: setting(
    "BREEZEWAY_TLS_KEY_FILE",
    "none: plain HTTP",
    "The file with the certificate's private key, in PEM, without a passphrase.",
    (text) => text,
  ),
  trustedProxies: setting(
    "BREEZEWAY_TRUSTED_PROXIES",
    "none",
    "Addresses of proxies, separated by commas, whose X-Forwarded-* headers are believed.",
    (text = "") => {
      const proxies = list(text);
      const wrong = proxies.find((proxy) => isIP(proxy.split("/")[0] ?? "") === 0);
      if (wrong) throw new Complaint(`holds "${wrong}", which is no IP address or range`);
      return proxies;
    },
  ),
  corsOrigins: setting(
    "BREEZEWAY_CORS_ORIGINS",
    "none",
    "Origins, separated by commas, whose pages may call the service from a browser: `https://app.example`.",
    (text = "") => {
      const origins = list(text);
      const wrong = origins.find((origin) => !/^https?:/.test(origin) || originOf(origin) !== origin);
      if (wrong) throw new Complaint(`holds "${wrong}", which is no origin such as https://app.example`);
      return origins;
    },
  ),
  connectionsPerSource: setting(
    "BREEZEWAY_CONNECTIONS_PER_SOURCE",
    String(limits.connectionsPerSource),
    "How many connections one address (IPv6: one /64 network) may have open, from 10 to 1000000; a new one beyond it is closed at once. Never more than half of `BREEZEWAY_CONNECTIONS`. Trusted proxies are not counted.",
    (text = String(limits.connectionsPerSource)) => wholeNumber(text, 10, 1_000_000),
  ),
  connections: setting(
    "BREEZEWAY_CONNECTIONS",
    String(limits.connections),
    "How many connections of clients a node may have open, from 100 to 1000000; a new one beyond it is closed at once. Never more than half of the open-file limit: the other half is for the store and the ecosystem's streams.",
    (text = String(limits.connections)) => wholeNumber(text, 100, 1_000_000),
  ),
  allowInsecure: setting(
    "BREEZEWAY_ALLOW_INSECURE",
    "false",
    "Allows a base URL that is neither https nor loopback.",
    (text = "false") => {
      if (text !== "true" && text !== "false") throw new Complaint("must be true or false");
      return text === "true";
    },
  ),
  accessTokenSeconds: setting(
    "BREEZEWAY_ACCESS_TOKEN_SECONDS",
    "3600",
    "How long an access token is good, from 360 (voice assistants need as much) to 86400.",
    (text = "3600") => wholeNumber(text, 360, 86_400),
  ),
  refreshTokenDays: setting(
    "BREEZEWAY_REFRESH_TOKEN_DAYS",
    "365",
    "How many days a refresh token may lie unused, from 1 to 3650; each use begins them anew.",
    (text = "365") => wholeNumber(text, 1, 3_650),
  ),
  failuresPerSource: setting(
    "BREEZEWAY_FAILURES_PER_SOURCE",
    "1000",
    "How many failed sign-ins, and failed client authentications, one address may have in 10 minutes; assistants and whole networks share one.",
    (text = "1000") => wholeNumber(text, 10, 1_000_000),
  ),
  logDays: setting(
    "BREEZEWAY_LOG_DAYS",
    "7",
    "How many days what happened is kept, for history and for event streams that resume, from 1 to 3650.",
    (text = "7") => wholeNumber(text, 1, 3_650),
  ),
  eventStreams: setting(
    "BREEZEWAY_EVENT_STREAMS",
    "16",
    "How many event streams a client may have open at a node for one user, or for its tenant, from 1 to 10000; one more ends the oldest.",
    (text = "16") => wholeNumber(text, 1, 10_000),
  ),
  allowPrivateWebhooks: setting(
    "BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS",
    "false",
    "Allows webhooks to addresses that aren't public, and without TLS.",
    (text = "false") => {
      if (text !== "true" && text !== "false") throw new Complaint("must be true or false");
      return text === "true";
    },
  ),
  metricsToken: setting(
    "BREEZEWAY_METRICS_TOKEN",
    "none: `/metrics` answers this machine alone",
    "The token with which `/metrics` may be read from elsewhere, of 16 characters or more.",
    (text) => {
      if (text !== undefined && !/^[\x21-\x7e]{16,}$/.test(text)) {
        throw new Complaint("must have 16 characters or more, without spaces");
      }
      return text;
    },
    { isSecret: true },
  ),
  drainSeconds: setting(
    "BREEZEWAY_DRAIN_SECONDS",
    "5",
    "How long a node with PostgreSQL still takes requests after SIGTERM, from 0 to 600, so that proxies find the others; longer than a proxy keeps an idle connection, or takes to hear of `/readyz`.",
    (text = "5") => wholeNumber(text, 0, 600),
  ),
} satisfies { [Key in keyof Config]: Setting<Config[Key]> };

/** Read by a command, not settings of the service. */
const otherVariables = [
  "BREEZEWAY_URL",
  "BREEZEWAY_PROFILE",
  ...[
    "BREEZEWAY_PASSWORD",
    "BREEZEWAY_CLIENT_SECRET",
    "BREEZEWAY_TOKEN",
    "BREEZEWAY_SEC_TOKEN",
    "BREEZEWAY_ECOSYSTEM_TOKEN",
  ].flatMap((name) => [name, `${name}_FILE`]),
];

export interface ConfigSources {
  /** By setting's flag, from the command line. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where a variable was set, when that is known. */
  readonly origin?: (variable: string) => string;
}

/** Whether a setting has a value of its own, by flag or by variable. Empty counts as not set. */
export function isSet({ flag, variable }: Setting, { flags, environment }: ConfigSources): boolean {
  return Boolean(flags[flag] || environment[variable]);
}

/** Reads every setting and reports all that is wrong at once. */
export function readConfig({ flags, environment }: ConfigSources): Config {
  const problems = unknownVariables(environment);
  const values: Partial<Record<keyof Config, unknown>> = {};
  for (const [key, one] of Object.entries(settings) as [keyof Config, Setting][]) {
    try {
      values[key] = one.read(textOf(one, flags, environment));
    } catch (problem) {
      if (!(problem instanceof Complaint)) throw problem;
      problems.push(`${flags[one.flag] ? `--${one.flag}` : one.variable} ${problem.message}`);
    }
  }
  const config = values as Config;
  problems.push(...problemsBetween(config));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return config;
}

/** What is wrong with settings that are right by themselves. */
function problemsBetween({ tlsCertFile, tlsKeyFile, baseUrl, allowInsecure }: Config): string[] {
  const problems: string[] = [];
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    problems.push("BREEZEWAY_TLS_CERT_FILE and BREEZEWAY_TLS_KEY_FILE go together: set both, or none");
  }
  if (baseUrl && !allowInsecure && !isSafe(baseUrl)) {
    problems.push(`BREEZEWAY_BASE_URL must be https or loopback: ${inClear}`);
  }
  return problems;
}

const inClear = "tokens would travel in clear. BREEZEWAY_ALLOW_INSECURE=true allows it";

/** A base URL that isn't set follows the address that is listened on: that one must be as safe. */
export function refuseInsecure({ host, baseUrl, tlsCertFile, allowInsecure }: Config): void {
  if (baseUrl || tlsCertFile || allowInsecure || isSafe(`http://${host.includes(":") ? `[${host}]` : host}`)) return;
  throw new ConfigurationError([
    `BREEZEWAY_BASE_URL must be set to an https address when BREEZEWAY_HOST is ${host}: ${inClear}`,
  ]);
}

export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:
${problems.map((problem) => `  - ${problem.replace(/[.?]?$/, (end) => end || ".")}`).join("\n")}`);
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}

function setting<Value>(
  variable: string,
  shown: string,
  meaning: string,
  read: (text: string | undefined) => Value,
  { isSecret = false } = {},
): Setting<Value> {
  const flag = variable.replace("BREEZEWAY_", "").toLowerCase().replaceAll("_", "-");
  return { variable, flag, shown, meaning, isSecret, read };
}

/** A flag goes before a variable; empty means not set. */
function textOf(one: Setting, flags: ConfigSources["flags"], environment: ConfigSources["environment"]) {
  const direct = flags[one.flag] || environment[one.variable];
  const file = one.isSecret ? environment[`${one.variable}_FILE`] : undefined;
  if (direct && file) throw new Complaint(`and ${one.variable}_FILE are both set; keep one`);
  if (!file) return direct || undefined;
  return fileText(file).trim() || undefined;
}

function unknownVariables(environment: ConfigSources["environment"]): string[] {
  const known = Object.values(settings).flatMap(({ variable, isSecret }) =>
    isSecret ? [variable, `${variable}_FILE`] : [variable],
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith("BREEZEWAY_") && ![...known, ...otherVariables].includes(name))
    .map((name) => `${name} is not a setting. ${suggestion(name, known)}`);
}

/** The known name that takes the fewest edits, if they are at most half of the given one. */
function suggestion(name: string, known: readonly string[]): string {
  const word = (variable: string) => variable.replace("BREEZEWAY_", "");
  const edits = (other: string) => editDistance(word(name), word(other));
  const best = known.reduce((one, other) => (edits(other) < edits(one) ? other : one));
  return edits(best) <= word(name).length / 2 ? `Did you mean ${best}?` : "See all with: breezeway config print";
}

/** The Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      next.push(Math.min(row[column]! + (letter === other ? 0 : 1), row[column + 1]! + 1, next[column]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}

function originOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

function isSafe(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}
