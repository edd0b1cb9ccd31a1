import { BadParameter } from "../../model/errors.ts";
import { isLoopbackHost } from "../../model/loopback-host.ts";
import { httpUrl, InvalidSetting } from "../../model/setting-checks.ts";
import type { SettingDefinition, SetUpEntry, SetUpFacts } from "../assistant.ts";
import { type AlarmOption, alarmOptions } from "./endpoint.ts";
import { type GatewayRegion, gatewayRegions } from "./regions.ts";

/** What an outlet must know of its skill. */
export interface AlexaSettings {
  readonly skillId: string;
  readonly vendorId: string;
  /** The skill's credentials for messages to the event gateway. */
  readonly messagingClientId: string;
  readonly messagingClientSecret: string;
  readonly alarms: AlarmOption;
  /** The token endpoint of Login with Amazon. */
  readonly tokenUrl: string;
  /** The event gateway of each region, without the path. */
  readonly gateways: Readonly<Record<GatewayRegion, string>>;
}

/** The addresses that Amazon publishes. */
const published = {
  tokenUrl: "https://api.amazon.com/auth/o2/token",
  gateways: "https://api.amazonalexa.com,https://api.eu.amazonalexa.com,https://api.fe.amazonalexa.com",
};

export const settingDefinitions: readonly SettingDefinition[] = [
  {
    name: "skill-id",
    type: "text",
    meaning: "the id of the skill, from the list of skills in the Alexa developer console",
  },
  {
    name: "vendor-id",
    type: "text",
    meaning: "your vendor id, from Settings > My IDs in the Alexa developer console",
  },
  {
    name: "messaging-client-id",
    type: "text",
    meaning: "the client id under Permissions > Alexa Skill Messaging, after Send Alexa Events was switched on",
  },
  {
    name: "messaging-client-secret",
    type: "secret",
    meaning: "the client secret under Permissions > Alexa Skill Messaging",
  },
  {
    name: "alarms",
    type: "text",
    meaning: "how smoke and CO alarms are offered: none (default), or contact, as contact sensors",
    isOptional: true,
  },
  {
    name: "login-url",
    type: "text",
    meaning: `the token endpoint of Login with Amazon, ${published.tokenUrl} by default`,
    isOptional: true,
  },
  {
    name: "event-urls",
    type: "text",
    meaning: `the event gateways of North America, Europe and the Far East, ${published.gateways} by default`,
    isOptional: true,
  },
];

/** Reads the settings by the names of their options. */
export function readSettings(typed: Readonly<Record<string, string>>): AlexaSettings {
  const word = (name: string, pattern: RegExp, problem: string) => {
    const text = typed[name]?.trim() ?? "";
    if (!pattern.test(text)) throw new BadParameter(name, `The option --${name} ${problem}.`);
    return text;
  };
  const alarms = alarmOptions.find((option) => option === (typed.alarms?.trim() || "none"));
  if (!alarms) throw new BadParameter("alarms", `The option --alarms must be one of: ${alarmOptions.join(", ")}.`);
  const [na, eu, fe] = addresses("event-urls", typed["event-urls"] || published.gateways, gatewayRegions.length);
  return {
    skillId: word("skill-id", /^amzn1\.ask\.skill\.[\w-]{1,100}$/, "must begin with amzn1.ask.skill."),
    vendorId: word("vendor-id", /^[A-Za-z0-9]{1,64}$/, "must consist of letters and digits"),
    messagingClientId: word("messaging-client-id", /^[\x21-\x7e]{1,200}$/, "must be one word"),
    messagingClientSecret: word("messaging-client-secret", /^[\x21-\x7e]{1,200}$/, "must be one word"),
    alarms,
    tokenUrl: addresses("login-url", typed["login-url"] || published.tokenUrl, 1)[0]!,
    gateways: { na, eu, fe } as AlexaSettings["gateways"],
  };
}

function addresses(name: string, text: string, count: number): readonly string[] {
  try {
    const read = text.split(",").map((address) => httpUrl(address.trim()));
    if (read.length !== count) throw new InvalidSetting(`must have ${count} addresses, separated by commas`);
    if (!read.every(isSafe)) throw new InvalidSetting("must be https: tokens would be sent unencrypted");
    return read;
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    throw new BadParameter(name, `The option --${name} ${error.message}.`);
  }
}

/** Plain http only to this machine, where a simulated Amazon may run. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || isLoopbackHost(hostname);
}

export function shownSettings(settings: AlexaSettings): Readonly<Record<string, string>> {
  const { skillId, vendorId, messagingClientId, alarms, tokenUrl, gateways } = settings;
  return {
    "skill-id": skillId,
    "vendor-id": vendorId,
    "messaging-client-id": messagingClientId,
    alarms,
    "login-url": tokenUrl,
    "event-urls": gatewayRegions.map((region) => gateways[region]).join(","),
  };
}

/** Account linking sends users back to one of these, by the region of their account. */
const redirectHosts = ["layla.amazon.com", "pitangui.amazon.com", "alexa.amazon.co.jp"];

export function redirectUris({ vendorId }: AlexaSettings): readonly string[] {
  return redirectHosts.map((host) => `https://${host}/api/skill/link/${vendorId}`);
}

/** The path to which the skill's Lambda function forwards directives. */
export const directivePath = "/alexa/v3/directives";

export function setUpEntries(facts: SetUpFacts): readonly SetUpEntry[] {
  const { baseUrl, clientId, clientSecret } = facts;
  const linking = (field: string, value: string) => ({ page: "Account Linking", field, value });
  return [
    { page: "AWS Lambda", field: "Code", value: "deploy/alexa/index.mjs" },
    { page: "AWS Lambda", field: "Environment variable DIRECTIVES_URL", value: `${baseUrl}${directivePath}` },
    { page: "Smart Home", field: "Payload version", value: "v3" },
    { page: "Smart Home", field: "Default endpoint", value: "the ARN of the Lambda function" },
    linking("Authorization grant type", "Auth Code Grant"),
    linking("Your Web Authorization URI", `${baseUrl}/oauth2/authorize`),
    linking("Access Token URI", `${baseUrl}/oauth2/access_token`),
    linking("Your Client ID", clientId),
    linking("Your Secret", clientSecret ?? `shown once; a new one: breezeway client rotate-secret ${clientId}`),
    linking("Your Authentication Scheme", "HTTP Basic"),
    linking("Scope", "devices:read"),
    linking("Scope", "devices:control"),
    { page: "Permissions", field: "Send Alexa Events", value: "on" },
  ];
}
