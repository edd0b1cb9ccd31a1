import { Breezeway } from "../../../sdk/src/index.ts";
import { BadParameter } from "../../model/errors.ts";
import type { Answer } from "../administration/admin-command.ts";
import type { Argument, Call, OwnCommand } from "../command.ts";
import { optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { Api } from "../remote/api.ts";
import { NotAuthorised, safeAddress } from "../remote/chosen-service.ts";
import { clientToken } from "../remote/client-token.ts";
import {
  checkProfileName,
  findProfile,
  type Profile,
  profilesFile,
  readProfiles,
  writeProfiles,
} from "../remote/profiles.ts";
import { commandError, ServiceRefused } from "../remote/service-errors.ts";
import { rows, table, whole } from "../terminal/output.ts";
import { readPassword, requiredSecret } from "../terminal/secret-input.ts";

const profileArgument: Argument = { name: "name", isRequired: true, meaning: "the profile's name" };

const add: OwnCommand = {
  name: "profile add",
  meaning: "save an address with credentials; the secret comes from standard input, a variable or a prompt",
  examples: [
    "profile add home --url https://breezeway.example < access-token-file",
    "profile add home --url https://breezeway.example --client bwc_…",
    "profile add home --url https://breezeway.example --login ada --app-id 42",
  ],
  arguments: [profileArgument],
  options: (command) =>
    command
      .requiredOption("--url <address>", "the service's address")
      .option("--client <id>", "an enterprise client, with its secret in place of a token (or BREEZEWAY_CLIENT_SECRET)")
      .option("--login <name>", "sign in as a user, with the password (or BREEZEWAY_PASSWORD): for links")
      .option("--app-id <number>", "the tenant's id, for --login"),
  async run(call) {
    const { typed, terminal, print } = call;
    const name = checkProfileName(text(typed, "name"));
    const url = safeAddress(text(typed, "url"), terminal.environment);
    const proven = await credentials(call, url);
    const known = readProfiles(terminal.environment);
    const earlier = known[name]?.url === url ? known[name] : undefined;
    writeProfiles(terminal.environment, { ...known, [name]: { ...earlier, url, ...proven } });
    print.data({ name, url, kept: profilesFile(terminal.environment) }, () => {
      return `Saved profile ${name}. Use it with: breezeway device list --profile ${name}`;
    });
  },
};

/** Credentials are saved only after the service has accepted them. */
async function credentials({ typed, terminal, print }: Call, url: string): Promise<Partial<Profile>> {
  const client = optional(typed, "client");
  const login = optional(typed, "login");
  if (client !== undefined && login !== undefined) {
    throw new BadParameter("login", "Either --client or --login. Add them one after the other to have both.");
  }
  if (client !== undefined) {
    const secret = await requiredSecret(terminal, { what: "client secret", variable: "BREEZEWAY_CLIENT_SECRET" });
    await print.during(`trying it at ${url}`, clientToken(url, { id: client, secret }));
    return { client: { id: client, secret } };
  }
  if (login !== undefined) {
    const password = await readPassword(terminal, { isNew: false });
    const signedIn = signIn(url, login, password, text(typed, "app-id"));
    return { secToken: await print.during(`signing in at ${url}`, signedIn), userName: login };
  }
  const accessToken = await requiredSecret(terminal, { what: "access token", variable: "BREEZEWAY_TOKEN" });
  const nextStep = "Get a new token from the service's administrator.";
  const tokens = { current: async () => accessToken, renewed: async () => undefined, secToken: async () => "" };
  const tried = new Api({ baseUrl: url, nextStep, ...tokens }).read((sdk) => sdk.getUsers());
  await print.during(`trying it at ${url}`, tried);
  return { accessToken };
}

async function signIn(url: string, name: string, password: string, appId: string): Promise<string> {
  try {
    return (await new Breezeway({ baseUrl: url }).login({ name, password, appId })).secToken;
  } catch (error) {
    const explained = commandError(error, url, {});
    throw explained instanceof ServiceRefused
      ? new NotAuthorised(`${explained.message} Nothing was saved.`)
      : explained;
  }
}

const list: OwnCommand = {
  name: "profile list",
  meaning: "list the profiles",
  examples: ["profile list"],
  async run({ terminal, print }) {
    const profiles = Object.entries(readProfiles(terminal.environment)).map(([name, one]) => shown(name, one));
    print.data({ profiles }, () => {
      if (profiles.length === 0) return "There are no profiles yet. See: breezeway profile add --help";
      return table(
        [whole("PROFILE"), whole("ADDRESS"), "CREDENTIALS"],
        profiles.map((one) => [one.name, one.url, one.by.join(", ")]),
        print.width,
      );
    });
  },
};

const show: OwnCommand = {
  name: "profile show",
  meaning: "show one profile, without its secrets",
  examples: ["profile show home"],
  arguments: [profileArgument],
  async run({ typed, terminal, print }) {
    const name = text(typed, "name");
    print.data(shown(name, findProfile(terminal.environment, name)), (one: Answer) =>
      rows([
        ["profile", one.name],
        ["address", one.url],
        ["credentials", one.by.join(", ")],
        ["kept in", profilesFile(terminal.environment)],
      ]),
    );
  },
};

const remove: OwnCommand = {
  name: "profile remove",
  meaning: "remove a profile with its secrets",
  examples: ["profile remove home"],
  arguments: [profileArgument],
  async run({ typed, terminal, print }) {
    const name = text(typed, "name");
    findProfile(terminal.environment, name);
    const { [name]: _, ...others } = readProfiles(terminal.environment);
    writeProfiles(terminal.environment, others);
    print.data({ name }, () => `Removed profile ${name}.`);
  },
};

function shown(name: string, { url, accessToken, client, secToken, userName }: Profile) {
  const by = [
    ...(accessToken ? ["access token"] : []),
    ...(client ? [`client ${client.id}`] : []),
    ...(secToken ? [`user ${userName}`] : []),
  ];
  return { name, url, by };
}

export const profile: Noun = {
  name: "profile",
  alias: "profiles",
  meaning: "saved addresses of services, with credentials",
  commands: [add, list, show, remove],
};
