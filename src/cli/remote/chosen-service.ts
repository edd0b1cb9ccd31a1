import type { Command } from "commander";
import { Breezeway } from "../../../sdk/src/index.ts";
import { ConfigurationError } from "../../config/config.ts";
import { BadParameter, BreezewayError } from "../../model/errors.ts";
import { isLoopbackHost } from "../../model/loopback-host.ts";
import type { Call } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Input, optional } from "../input.ts";
import type { CommandCredentials } from "../programs.ts";
import { readSecret } from "../terminal/secret-input.ts";
import { Api, type Credentials } from "./api.ts";
import { clientToken } from "./client-token.ts";
import { findProfile } from "./profiles.ts";

/** The time limit for signing out, so that a silent service does not delay the end of a command. */
const revokeWithinMs = 2_000;

/** The options of every command that calls a service. */
export function withServiceOptions(command: Command): Command {
  return command
    .option("--url <address>", "the service's address; the token comes from BREEZEWAY_TOKEN or BREEZEWAY_TOKEN_FILE")
    .option("--profile <name>", "a saved address with credentials; see: breezeway profile list");
}

/** The same, with the options that choose the user or tenant for whom an administrator acts on this machine. */
export function withOwnerOptions(command: Command): Command {
  return withServiceOptions(command)
    .option("--user <id>", "act for this user (on this machine; see: breezeway user list)")
    .option("--tenant <name or id>", "act for this tenant (on this machine)");
}

/** Whether the command calls an address; otherwise it gets access through the data folder of this machine. */
export function isRemote({ typed, terminal: { environment } }: Call): boolean {
  return [typed.url, typed.profile, environment.BREEZEWAY_URL, environment.BREEZEWAY_PROFILE].some(Boolean);
}

/**
 * The chosen service: by `--url`, then `--profile`, then their variables, then the service that runs on this machine's data
 * folder, where a command has the rights of an administrator. `about` names the device, user or alert that it concerns.
 */
export async function serviceOf(call: Call, about: Input = {}): Promise<Api> {
  return new Api(isRemote(call) ? await remoteCredentials(call) : await localCredentials(call, about));
}

async function remoteCredentials(call: Call): Promise<Credentials> {
  const { typed, terminal } = call;
  const { environment } = terminal;
  const name = optional(typed, "profile") ?? (typed.url ? undefined : environment.BREEZEWAY_PROFILE);
  const profile = name ? findProfile(environment, name) : undefined;
  const address = optional(typed, "url") ?? (name ? undefined : environment.BREEZEWAY_URL);
  const baseUrl = safeAddress(address ?? profile!.url, environment);
  const secret = (what: string, variable: string) => readSecret(terminal, { what, variable, prompts: false });
  let held: string | undefined;
  const again = name ? `Renew it with: breezeway profile add ${name} --url ${baseUrl}` : "Set a new BREEZEWAY_TOKEN.";
  return {
    baseUrl,
    nextStep: again,
    secTokenStep: name ? `${again} --login NAME --app-id NUMBER` : "Set a new BREEZEWAY_SEC_TOKEN.",
    async current() {
      const own = await secret("access token", "BREEZEWAY_TOKEN");
      if (own) return own;
      held ??= profile?.client ? await clientToken(profile.url, profile.client) : profile?.accessToken;
      if (held !== undefined) return held;
      throw new NotAuthorised(
        `There is no access token for ${baseUrl}. Set BREEZEWAY_TOKEN, or save one: breezeway profile add ${name ?? "NAME"} --url ${baseUrl}`,
      );
    },
    async renewed() {
      const own = await secret("access token", "BREEZEWAY_TOKEN");
      held = own || !profile?.client ? undefined : await clientToken(profile.url, profile.client);
      return held;
    },
    async secToken() {
      const own = (await secret("security token", "BREEZEWAY_SEC_TOKEN")) ?? profile?.secToken;
      if (own) return own;
      throw new NotAuthorised(
        `A security token of the user is missing. Set BREEZEWAY_SEC_TOKEN, or sign in: breezeway profile add ${name ?? "NAME"} --url ${baseUrl} --login NAME --app-id NUMBER`,
      );
    },
  };
}

/** The kind of access, without the device, user or alert. */
function kindOfAccess({ "as-user": asUser, keeps }: Input): Input {
  return { "as-user": asUser, keeps };
}

async function localCredentials({ typed, programs, config }: Call, about: Input): Promise<Credentials> {
  const settings = config();
  const named = optional(typed, "user") ?? optional(typed, "tenant");
  const wanted = named === undefined ? about : { ...kindOfAccess(about), user: typed.user, tenant: typed.tenant };
  const enter = () => programs.access(settings, wanted);
  let access: CommandCredentials = await enter();
  return {
    get baseUrl() {
      return access.baseUrl;
    },
    nextStep: "See: breezeway doctor",
    async renewAccess() {
      access = await enter();
    },
    current: async () => access.accessToken,
    async renewed() {
      access = await enter();
      return access.accessToken;
    },
    secToken: async () => access.secToken!,
    async revokeTokens() {
      const { baseUrl, secToken } = access;
      if (secToken === undefined) return;
      // Best effort: a security token that is not ended here expires within the hour.
      const user = new Breezeway({ baseUrl, secToken, timeoutMs: revokeWithinMs });
      await user.logout().catch(() => undefined);
    },
  };
}

/** Refuses an address over which a token would be sent unencrypted. */
export function safeAddress(address: string, environment: Readonly<Record<string, string | undefined>>): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new BadParameter("url", "--url must be an address that begins with https:// or http://, and nothing more.");
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname) && environment.BREEZEWAY_ALLOW_INSECURE !== "true") {
    throw new ConfigurationError([
      `${address} is neither https nor on this machine: the token would be sent unencrypted. BREEZEWAY_ALLOW_INSECURE=true allows it`,
    ]);
  }
  return address.replace(/\/+$/, "");
}

export class NotAuthorised extends BreezewayError {
  readonly code = "not_authorised";
  readonly exitCode = exitCodes.notAuthorised;
}
