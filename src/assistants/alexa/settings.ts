import { BadParameter } from "../../model/errors.ts";
import type { SettingDefinition, SetUpEntry, SetUpFacts } from "../assistant.ts";
import { type AlarmOption, alarmOptions } from "./endpoint.ts";

/** What an outlet must know of its skill. */
export interface AlexaSettings {
  readonly skillId: string;
  readonly vendorId: string;
  /** The skill's credentials for messages to the event gateway. */
  readonly messagingClientId: string;
  readonly messagingClientSecret: string;
  readonly alarms: AlarmOption;
}

export const settingDefinitions: readonly SettingDefinition[] = [
  {
    name: "skill-id",
    type: "text",
    meaning: "The id of the skill, from the list of skills in the Alexa developer console.",
  },
  {
    name: "vendor-id",
    type: "text",
    meaning: "Your vendor id, from Settings > My IDs in the Alexa developer console.",
  },
  {
    name: "messaging-client-id",
    type: "text",
    meaning: "The client id under Permissions > Alexa Skill Messaging, after Send Alexa Events was switched on.",
  },
  {
    name: "messaging-client-secret",
    type: "secret",
    meaning: "The client secret beside that client id.",
  },
  {
    name: "alarms",
    type: "text",
    meaning: "How smoke and CO alarms are offered: none (default), or contact, which shows them as contact sensors.",
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
  return {
    skillId: word("skill-id", /^amzn1\.ask\.skill\.[\w-]{1,100}$/, "must begin with amzn1.ask.skill."),
    vendorId: word("vendor-id", /^[A-Za-z0-9]{1,64}$/, "must consist of letters and digits"),
    messagingClientId: word("messaging-client-id", /^[\x21-\x7e]{1,200}$/, "must be one word"),
    messagingClientSecret: word("messaging-client-secret", /^[\x21-\x7e]{1,200}$/, "must be one word"),
    alarms,
  };
}

export function shownSettings({ skillId, vendorId, messagingClientId, alarms }: AlexaSettings) {
  return { "skill-id": skillId, "vendor-id": vendorId, "messaging-client-id": messagingClientId, alarms };
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
    linking(
      "Your Secret",
      clientSecret ?? "shown only when the outlet was added; breezeway client rotate makes a new one",
    ),
    linking("Your Authentication Scheme", "HTTP Basic"),
    linking("Scope", "devices:read"),
    linking("Scope", "devices:control"),
    { page: "Permissions", field: "Send Alexa Events", value: "on" },
  ];
}
