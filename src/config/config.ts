import { isIP } from "node:net";
import type { EcosystemConfiguration } from "../ecosystems/protocol.ts";
import { defaultExample } from "../ecosystems/registry.ts";
import { limits } from "../model/limits.ts";
import { isLoopbackHost } from "../model/loopback-host.ts";
import { httpUrl, InvalidSetting, plainAddress } from "../model/setting-checks.ts";
import { readEcosystems, withoutClients } from "./ecosystem-settings.ts";
import { hasLoopbackAddress } from "./loopback.ts";
import { nearestWord } from "./nearest-word.ts";
import { type OpenIdRole, readOpenIdRoles } from "./openid-roles.ts";
import { fileText, list, wholeNumber } from "./setting-values.ts";

/** Everything that can be set about a running Breezeway. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: built from host and port. */
  readonly baseUrl: string | undefined;
  readonly dataFolder: string;
  /** Undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Undefined: a file in the data folder. */
  readonly keyFile: string | undefined;
  readonly ecosystems: readonly EcosystemConfiguration[];
  readonly logLevel: LogLevel;
  /** Either both TLS files are set, or none. */
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
  /** Undefined: only this machine may read the metrics. */
  readonly metricsToken: string | undefined;
  readonly drainSeconds: number;
  /** The OpenID provider of operators. Either all four are set, or none. */
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  readonly oidcRoles: readonly OpenIdRole[];
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One setting: its variable, the flag that overrides it, its default, its meaning, and the check of its text. */
export interface Setting<Value = unknown> {
  readonly variable: string;
  readonly flag: string;
  /** The default as text for people. */
  readonly defaultText: string;
  readonly meaning: string;
  /** A secret can also come from the file that `<variable>_FILE` names. */
  readonly isSecret?: boolean;
  /** Parses the text; undefined means not set. Throws InvalidSetting, which says what is allowed. */
  readonly read: (text: string | undefined) => Value;
}

export const settings = {
  host: setting("BREEZEWAY_HOST", "127.0.0.1", "The address to listen on.", (text = "127.0.0.1") => {
    if (isIP(text) === 0 && text !== "localhost") throw new InvalidSetting("must be an IP address or localhost");
    return text;
  }),
  port: setting("BREEZEWAY_PORT", "8080", "The port to listen on; 0 takes a free one.", (text = "8080") => {
    if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidSetting("must be a port from 0 to 65535");
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
      if (text !== undefined && !/^postgres(ql)?:\/\/./.test(text))
        throw new InvalidSetting("must begin with postgres://");
      return text;
    },
    { isSecret: true },
  ),
  keyFile: setting(
    "BREEZEWAY_KEY_FILE",
    "breezeway.key in the data folder",
    "The file with the key that seals ecosystem tokens. It is created for a new store if it is missing, never for a store with sealed values. All nodes need the same file.",
    (text) => text,
  ),
  ecosystems: setting(
    "BREEZEWAY_ECOSYSTEMS",
    `\`${defaultExample.name}\` at the simulator's address; without link pages if the base URL is not loopback`,
    `The home ecosystems, as JSON or as a file of it: \`${defaultExample.text}\`.`,
    readEcosystems,
  ),
  logLevel: setting("BREEZEWAY_LOG_LEVEL", "info", `How much is logged: ${logLevels.join(", ")}.`, (text = "info") => {
    const level = logLevels.find((known) => known === text);
    if (!level) throw new InvalidSetting(`must be one of ${logLevels.join(", ")}`);
    return level;
  }),
  tlsCertFile: setting(
    "BREEZEWAY_TLS_CERT_FILE",
    "none: plain HTTP",
    "The file with the TLS certificate and its intermediate certificates, in PEM. A changed file is loaded within a minute, or at SIGHUP.",
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
    "Addresses of proxies, separated by commas, whose X-Forwarded-* headers are trusted.",
    (text = "") => {
      const proxies = list(text);
      const wrong = proxies.find((proxy) => !isAddressOrRange(proxy));
      if (wrong) throw new InvalidSetting(`holds "${wrong}", which ${whyNoProxy(wrong)}`);
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
      if (wrong) throw new InvalidSetting(`holds "${wrong}", which is not an origin such as https://app.example`);
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
    trueOrFalse,
  ),
  accessTokenSeconds: setting(
    "BREEZEWAY_ACCESS_TOKEN_SECONDS",
    "3600",
    "How many seconds an access token is valid, from 360 (the least that voice assistants accept) to 86400.",
    (text = "3600") => wholeNumber(text, 360, 86_400),
  ),
  refreshTokenDays: setting(
    "BREEZEWAY_REFRESH_TOKEN_DAYS",
    "365",
    "After how many days an unused refresh token expires, from 1 to 3650. Each use restarts them.",
    (text = "365") => wholeNumber(text, 1, 3_650),
  ),
  failuresPerSource: setting(
    "BREEZEWAY_FAILURES_PER_SOURCE",
    "1000",
    "How many failed sign-ins, and failed client authentications, one address may have in 10 minutes. Keep it high: assistants and whole networks share one address.",
    (text = "1000") => wholeNumber(text, 10, 1_000_000),
  ),
  logDays: setting(
    "BREEZEWAY_LOG_DAYS",
    "7",
    "How many days events are kept, for history and for event streams that resume, from 1 to 3650.",
    (text = "7") => wholeNumber(text, 1, 3_650),
  ),
  eventStreams: setting(
    "BREEZEWAY_EVENT_STREAMS",
    "16",
    "How many event streams a client may have open at a node for one user, or for its tenant, from 1 to 10000. A further stream ends the oldest.",
    (text = "16") => wholeNumber(text, 1, 10_000),
  ),
  allowPrivateWebhooks: setting(
    "BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS",
    "false",
    "Allows webhooks to private addresses, and without TLS.",
    trueOrFalse,
  ),
  metricsToken: setting(
    "BREEZEWAY_METRICS_TOKEN",
    "none: only this machine may read `/metrics`",
    "The token with which other machines may read `/metrics`; 16 characters or more.",
    (text) => {
      if (text !== undefined && !/^[\x21-\x7e]{16,}$/.test(text)) {
        throw new InvalidSetting("must have 16 characters or more, without spaces");
      }
      return text;
    },
    { isSecret: true },
  ),
  drainSeconds: setting(
    "BREEZEWAY_DRAIN_SECONDS",
    "5",
    "How many seconds a node with PostgreSQL still accepts requests after SIGTERM, from 0 to 600, so that proxies turn to other nodes. Choose more than a proxy keeps an idle connection, and more than it takes to notice `/readyz`.",
    (text = "5") => wholeNumber(text, 0, 600),
  ),
  oidcIssuer: setting(
    "BREEZEWAY_OPERATOR_OIDC_ISSUER",
    "none: operators sign in with a password",
    "The OpenID provider at which operators may sign in, by its issuer address (docs/console.md). It needs the three settings below.",
    (text) => {
      if (text !== undefined) httpUrl(text);
      return text;
    },
  ),
  oidcClientId: setting(
    "BREEZEWAY_OPERATOR_OIDC_CLIENT_ID",
    "none",
    "The id of this Breezeway at the OpenID provider. The redirect address there is `<base URL>/console/openid/callback`.",
    (text) => text,
  ),
  oidcClientSecret: setting(
    "BREEZEWAY_OPERATOR_OIDC_CLIENT_SECRET",
    "none",
    "The secret of this Breezeway at the OpenID provider.",
    (text) => text,
    { isSecret: true },
  ),
  oidcRoles: setting(
    "BREEZEWAY_OPERATOR_OIDC_ROLES",
    "none",
    'Which claims of an ID token give which role, as JSON or as a file of it: `[{"claim":"groups","value":"ops","role":"owner"}]`. The first rule that fits decides, at each sign-in anew.',
    readOpenIdRoles,
  ),
} satisfies { [Key in keyof Config]: Setting<Config[Key]> };

/** Variables that commands read. They are not settings of the service. */
const otherVariables = [
  "BREEZEWAY_URL",
  "BREEZEWAY_PROFILE",
  ...[
    "BREEZEWAY_PASSWORD",
    "BREEZEWAY_CLIENT_SECRET",
    "BREEZEWAY_TOKEN",
    "BREEZEWAY_SEC_TOKEN",
    "BREEZEWAY_ECOSYSTEM_TOKEN",
    "BREEZEWAY_MESSAGING_CLIENT_SECRET",
  ].flatMap((name) => [name, `${name}_FILE`]),
];

export interface ConfigSources {
  /** The command line's flags, by name. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Says where a variable was set: in the environment, or in a file. */
  readonly origin?: (variable: string) => string;
}

/** Whether a flag or a variable sets the value. Empty counts as not set. */
export function isSet({ flag, variable }: Setting, { flags, environment }: ConfigSources): boolean {
  return Boolean(flags[flag] || environment[variable]);
}

/** Reads all settings. Throws one ConfigurationError with all problems. */
export function readConfig({ flags, environment }: ConfigSources): Config {
  const problems = unknownVariables(environment);
  const values: Partial<Record<keyof Config, unknown>> = {};
  for (const [key, setting] of Object.entries(settings) as [keyof Config, Setting][]) {
    try {
      values[key] = readSetting(setting, { flags, environment });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
    }
  }
  const config = values as Config;
  problems.push(...problemsBetween(config));
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (isSet(settings.ecosystems, { flags, environment }) || hasLoopbackAddress(config)) return config;
  return { ...config, ecosystems: withoutClients(config.ecosystems) };
}

/** Reads one setting. Throws a ConfigurationError that names the flag or the variable. */
export function readSetting<Value>(setting: Setting<Value>, { flags, environment }: ConfigSources): Value {
  try {
    return setting.read(textOf(setting, flags, environment));
  } catch (problem) {
    if (!(problem instanceof InvalidSetting)) throw problem;
    const name = flags[setting.flag] ? `--${setting.flag}` : setting.variable;
    throw new ConfigurationError([`${name} ${problem.message}`]);
  }
}

/** Problems of settings that are valid alone but not together. */
function problemsBetween(config: Config): string[] {
  const { tlsCertFile, tlsKeyFile, baseUrl, allowInsecure } = config;
  const problems: string[] = [];
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    problems.push("BREEZEWAY_TLS_CERT_FILE and BREEZEWAY_TLS_KEY_FILE go together: set both, or none");
  }
  if (baseUrl && !allowInsecure && !isSafe(baseUrl)) {
    problems.push(`BREEZEWAY_BASE_URL must be https or loopback: ${unencrypted}`);
  }
  problems.push(...openIdProblems(config));
  return problems;
}

function openIdProblems({ oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles, allowInsecure }: Config): string[] {
  const isSet = [oidcIssuer, oidcClientId, oidcClientSecret].map((one) => one !== undefined);
  // A value that could not be read is reported already.
  isSet.push(oidcRoles === undefined || oidcRoles.length > 0);
  if (isSet.includes(true) && isSet.includes(false)) {
    return ["BREEZEWAY_OPERATOR_OIDC_ISSUER, _CLIENT_ID, _CLIENT_SECRET and _ROLES go together: set all, or none"];
  }
  if (oidcIssuer === undefined || allowInsecure || isSafe(oidcIssuer)) return [];
  return [`BREEZEWAY_OPERATOR_OIDC_ISSUER must be https or loopback: ${unencrypted}`];
}

const unencrypted = "tokens would be sent unencrypted. BREEZEWAY_ALLOW_INSECURE=true allows it";

/** Refuses plain HTTP on a public address. Without a base URL, the address to listen on must be loopback or use TLS. */
export function refuseInsecure({ host, baseUrl, tlsCertFile, allowInsecure }: Config): void {
  if (baseUrl || tlsCertFile || allowInsecure || isSafe(plainAddress(host, 80))) return;
  throw new ConfigurationError([
    `BREEZEWAY_BASE_URL must be set to an https address when BREEZEWAY_HOST is ${host}: ${unencrypted}`,
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
  defaultText: string,
  meaning: string,
  read: (text: string | undefined) => Value,
  { isSecret = false } = {},
): Setting<Value> {
  const flag = variable.replace("BREEZEWAY_", "").toLowerCase().replaceAll("_", "-");
  return { variable, flag, defaultText, meaning, isSecret, read };
}

/** The text of a setting: from its flag, else from its variable, else from its secret file. Empty means not set. */
function textOf(setting: Setting, flags: ConfigSources["flags"], environment: ConfigSources["environment"]) {
  const direct = flags[setting.flag] || environment[setting.variable];
  const file = setting.isSecret ? environment[`${setting.variable}_FILE`] : undefined;
  if (direct && file) throw new InvalidSetting(`and ${setting.variable}_FILE are both set; keep one`);
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

/** Suggests the known name that is most like this one. */
function suggestion(name: string, known: readonly string[]): string {
  const word = (variable: string) => variable.replace(prefix, "");
  const best = nearestWord(word(name), known.map(word));
  return best === undefined ? "See all with: breezeway config print" : `Did you mean ${prefix}${best}?`;
}

const prefix = "BREEZEWAY_";

function trueOrFalse(text = "false"): boolean {
  if (text !== "true" && text !== "false") throw new InvalidSetting("must be true or false");
  return text === "true";
}

/** `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`. A range of every address would trust every caller. */
function isAddressOrRange(text: string): boolean {
  const [, address = "", prefix] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 1) <= (version === 4 ? 32 : 128);
}

function whyNoProxy(text: string): string {
  const [address = "", prefix] = text.split("/");
  return isIP(address) !== 0 && prefix === "0"
    ? "trusts every caller; name the proxy's own range"
    : "is not an IP address or range";
}

function originOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

function isSafe(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || isLoopbackHost(hostname);
}
