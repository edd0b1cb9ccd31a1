import { skillSettings } from "../../simulator/alexa/simulator.ts";
import type { MadeClient, OAuthWorld } from "../oauth/oauth-world.ts";
import type { Caller } from "./callers.ts";

/** An outlet, with the client whose tokens it accepts. */
export interface MadeOutlet extends MadeClient {
  readonly outlet: string;
  readonly redirectUri: string;
}

/** Nothing listens there: what is reported goes nowhere. */
const nowhere = "http://127.0.0.1:9";

const settings = {
  "google-home": {
    "project-id": "hearth-hollow",
    "service-account": JSON.stringify({
      client_email: "reports@hearth-hollow.example",
      private_key: "-----BEGIN PRIVATE KEY----- of nobody",
      token_uri: `${nowhere}/token`,
    }),
    "home-graph-url": nowhere,
  },
  alexa: {
    ...skillSettings,
    "login-url": `${nowhere}/auth/o2/token`,
    "event-urls": `${nowhere}/na,${nowhere}/eu,${nowhere}/fe`,
    alarms: "contact",
  },
};

const redirectUris = {
  "google-home": "https://oauth-redirect.googleusercontent.com/r/hearth-hollow",
  alexa: `https://pitangui.amazon.com/api/skill/link/${skillSettings["vendor-id"]}`,
};

export type OutletKind = keyof typeof settings;

export async function addOutlet({ service }: OAuthWorld, kind: OutletKind, tenant = "Acme"): Promise<MadeOutlet> {
  const added = await service.parts.administration.run("outlet add", { tenant, kind, settings: settings[kind] });
  const { outlet, client_id: id, client_secret: secret } = added as Readonly<Record<string, string>>;
  return { outlet: outlet!, id: id!, secret: secret!, redirectUri: redirectUris[kind] };
}

/** The tokens that the maker of the assistant gets when a person links it. */
export async function linkedBy(
  world: OAuthWorld,
  { redirectUri: redirect_uri, ...client }: MadeOutlet,
  person: { readonly name: string; readonly password: string },
  scope = "devices:read devices:control",
): Promise<{ readonly access_token: string; readonly refresh_token: string }> {
  const code = await world.code({ client_id: client.id, redirect_uri, scope }, person);
  const { status, body } = await world.exchange(code, client, { redirect_uri });
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Users who have linked an assistant: their tokens belong to an outlet's client. */
export async function callersWithOutlets(world: OAuthWorld): Promise<readonly Caller[]> {
  const bob = { name: "bob", password: "another word" };
  const stranger = { name: "ada", password: "correct horse" };
  const caller = async (name: string, userId: typeof world.bobId, person: typeof bob, outlet: MadeOutlet) => {
    const { access_token: bearer } = await linkedBy(world, outlet, person);
    const is = { bearer: { kind: "user", userId }, client: { kind: "client", clientId: outlet.id } } as const;
    return { name, keys: { bearer, client: { id: outlet.id, secret: outlet.secret } }, is };
  };
  return [
    await caller(
      "another user of the same tenant through Google Home",
      world.bobId,
      bob,
      await addOutlet(world, "google-home"),
    ),
    await caller("another user of the same tenant through Alexa", world.bobId, bob, await addOutlet(world, "alexa")),
    await caller(
      "a user of another tenant through Google Home",
      world.strangerId,
      stranger,
      await addOutlet(world, "google-home", "Other"),
    ),
  ];
}
