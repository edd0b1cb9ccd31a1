import { httpUrl, InvalidSetting } from "../../model/setting-checks.ts";
import type { EcosystemConfiguration, Settings } from "../protocol.ts";

export interface GoogleConfiguration extends EcosystemConfiguration {
  readonly apiUrl: string;
  /** Of the Device Access project. */
  readonly projectId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The page on which an account's owner chooses the devices. */
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly revokeUrl: string;
  /** `projects/{project}/subscriptions/{name}` */
  readonly subscription: string;
  readonly pubsubUrl: string;
  /** The file with the key of the service account that may pull the subscription. */
  readonly serviceAccountFile: string;
  /** The range of targets: the thermostats do not tell theirs. */
  readonly minCelsius: number;
  readonly maxCelsius: number;
}

export const protocol = "google-device-access";

/** Google's addresses. Settings may replace them, for the simulator. */
export const addresses = {
  apiUrl: "https://smartdevicemanagement.googleapis.com/v1",
  authUrl: "https://nestservices.google.com/partnerconnections",
  tokenUrl: "https://oauth2.googleapis.com/token",
  revokeUrl: "https://oauth2.googleapis.com/revoke",
  pubsubUrl: "https://pubsub.googleapis.com/v1",
} as const;

const defaultRange = { minCelsius: 9, maxCelsius: 32 };

export function readConfiguration(name: string, settings: Settings): GoogleConfiguration {
  const text = (member: string, shape = /./) => {
    const value = settings[member];
    if (typeof value === "string" && shape.test(value)) return value;
    throw new InvalidSetting(`must give a text as ${member} of ${name}${hints[member] ?? ""}`);
  };
  const address = (member: keyof typeof addresses) =>
    settings[member] === undefined ? addresses[member] : httpUrl(text(member));
  const celsius = (member: keyof typeof defaultRange) => {
    const value = settings[member] ?? defaultRange[member];
    if (typeof value === "number" && value >= 0 && value <= 50) return value;
    throw new InvalidSetting(`must give a number from 0 to 50 as ${member} of ${name}`);
  };
  const [minCelsius, maxCelsius] = [celsius("minCelsius"), celsius("maxCelsius")];
  if (minCelsius >= maxCelsius) throw new InvalidSetting(`must give a minCelsius below the maxCelsius of ${name}`);
  return {
    name: name.toLowerCase(),
    protocol,
    apiUrl: address("apiUrl"),
    projectId: text("projectId", /^[\w-]{1,100}$/),
    clientId: text("clientId"),
    clientSecret: text("clientSecret"),
    authUrl: address("authUrl"),
    tokenUrl: address("tokenUrl"),
    revokeUrl: address("revokeUrl"),
    subscription: text("subscription", /^projects\/[^/\s]+\/subscriptions\/[^/\s]+$/),
    pubsubUrl: address("pubsubUrl"),
    serviceAccountFile: text("serviceAccountFile"),
    minCelsius,
    maxCelsius,
  };
}

const hints: Readonly<Record<string, string>> = {
  projectId: ", the id of the Device Access project",
  subscription: ", such as projects/my-project/subscriptions/my-subscription",
  serviceAccountFile: ", the path of the service account's key file",
};
