import { BadParameter } from "../../model/errors.ts";
import type { SettingDefinition, SetUpEntry, SetUpFacts } from "../assistant.ts";

export interface GoogleSettings {
  readonly projectId: string;
  readonly homeGraphUrl: string;
  readonly serviceAccount: ServiceAccount;
}

export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  /** PKCS #8 as PEM. */
  readonly privateKey: string;
  readonly tokenUrl: string;
}

export const fulfilmentPath = "/google-home/fulfilment";

/** The addresses that Google publishes. */
const published = {
  homeGraphUrl: "https://homegraph.googleapis.com",
  tokenUrl: "https://oauth2.googleapis.com/token",
  redirects: [
    "https://oauth-redirect.googleusercontent.com/r/",
    "https://oauth-redirect-sandbox.googleusercontent.com/r/",
  ],
};

export const settingDefinitions: readonly SettingDefinition[] = [
  { name: "project-id", type: "text", meaning: "the id of the project in Google's developer console" },
  {
    name: "service-account",
    type: "file",
    meaning: "the key file (JSON) of a service account of that project, for reports to Home Graph",
  },
  {
    name: "home-graph-url",
    type: "text",
    isOptional: true,
    meaning: `the address of Home Graph, ${published.homeGraphUrl} by default`,
  },
];

export function readGoogleSettings(typed: Readonly<Record<string, string>>): GoogleSettings {
  const projectId = typed["project-id"] ?? "";
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(projectId)) {
    throw new BadParameter(
      "project-id",
      "--project-id must be the id of a project: 6 to 30 letters, digits and hyphens.",
    );
  }
  const homeGraphUrl = typed["home-graph-url"] ?? published.homeGraphUrl;
  // With a path each call would get 404, which means that the user has unlinked.
  if (!isAddress(homeGraphUrl) || new URL(homeGraphUrl).href !== `${new URL(homeGraphUrl).origin}/`) {
    throw new BadParameter("home-graph-url", "--home-graph-url must be an https address without a path.");
  }
  return {
    projectId,
    homeGraphUrl: new URL(homeGraphUrl).origin,
    serviceAccount: readServiceAccount(typed["service-account"] ?? ""),
  };
}

/** The messages never quote the file: it holds a key. */
function readServiceAccount(text: string): ServiceAccount {
  const refuse = (problem: string) => new BadParameter("service-account", `--service-account: ${problem}`);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw refuse("the file is no JSON. Download the key of the service account as JSON.");
  }
  const members = typeof document === "object" && document !== null ? (document as Record<string, unknown>) : {};
  const { client_email: email, private_key: privateKey, private_key_id: keyId, token_uri: tokenUri } = members;
  if (typeof email !== "string" || typeof privateKey !== "string") {
    throw refuse("the file has no client_email and private_key. Download the key of the service account as JSON.");
  }
  if (!privateKey.includes("BEGIN PRIVATE KEY")) throw refuse("private_key is no key in the format PKCS #8.");
  const tokenUrl = typeof tokenUri === "string" ? tokenUri : published.tokenUrl;
  if (!isAddress(tokenUrl)) throw refuse("token_uri must be an https address.");
  return { email, keyId: typeof keyId === "string" ? keyId : undefined, privateKey, tokenUrl };
}

/** Plain http only to this machine, where a simulated Google may run. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isHere = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  return (protocol === "https:" || (protocol === "http:" && isHere)) && username === "" && password === "";
}

export function redirectUris({ projectId }: GoogleSettings): readonly string[] {
  return published.redirects.map((address) => `${address}${projectId}`);
}

export function shownSettings({ projectId, homeGraphUrl, serviceAccount }: GoogleSettings) {
  return { "project-id": projectId, "service-account": serviceAccount.email, "home-graph-url": homeGraphUrl };
}

/** The pages of Google's developer console, in the order of its wizard. */
export function setUp(
  _settings: GoogleSettings,
  { baseUrl, clientId, clientSecret }: SetUpFacts,
): readonly SetUpEntry[] {
  const [linking, develop] = ["Cloud-to-cloud, Account linking", "Cloud-to-cloud, Develop"];
  return [
    { page: linking, field: "Client ID", value: clientId },
    {
      page: linking,
      field: "Client secret",
      value: clientSecret ?? `shown once; a new one: breezeway client rotate-secret ${clientId}`,
    },
    { page: linking, field: "Authorization URL", value: `${baseUrl}/oauth2/authorize` },
    { page: linking, field: "Token URL", value: `${baseUrl}/oauth2/access_token` },
    { page: linking, field: "Scopes", value: "devices:read devices:control" },
    { page: develop, field: "Cloud fulfillment URL", value: `${baseUrl}${fulfilmentPath}` },
  ];
}
