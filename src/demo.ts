import { chmodSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { type Config, ConfigurationError } from "./config.ts";
import { startLogging } from "./logging.ts";
import { Conflict } from "./model/errors.ts";
import type { UserId } from "./model/ids.ts";
import { type Service, startService } from "./service.ts";
import { untilTold } from "./signals.ts";

const tenantName = "Demo";
const login = { name: "demo", password: "maple-street" };
const house = { seed: 7, structures: [{ name: "Maple Street", thermostats: 2, alarms: 3 }] };
const simulatorPort = 8090;
const clientName = "Demo client";
/** Before a token's hour is over, so that those in the files always work. */
const loginEveryMs = 30 * 60_000;
const lifeEveryMs = 4_000;

/**
 * The whole path on one machine: the service, a simulated house, and a user who is linked to it, through the same doors
 * that a client uses. Everything is kept; a second start goes on where the first ended.
 */
export async function runDemo(config: Config, version: string): Promise<void> {
  refuseOutside(config);
  const told = untilTold();
  const simulator = await onFreePort(simulatorPort, "The simulator", (port) =>
    startSimulator({ port, stateFile: join(config.dataFolder, "simulator.json") }),
  );
  let service: Service | undefined;
  try {
    const ecosystems = [
      { name: "nest", protocol: "nest" as const, apiUrl: simulator.url, allowedHosts: [new URL(simulator.url).host] },
    ];
    const report = startLogging(process.env.BREEZEWAY_LOG_LEVEL ? config.logLevel : "warn");
    service = await onFreePort(config.port, "The service", (port) =>
      startService({ ...config, port, ecosystems }, report),
    );
    // For commands that make things happen in the house; no secret.
    writeFileSync(join(config.dataFolder, "demo-simulator-url"), simulator.url);
    const files = {
      secToken: join(config.dataFolder, "demo-sec-token"),
      accessToken: join(config.dataFolder, "demo-access-token"),
    };
    const { deviceId, appId } = await moveIn(service, simulator, files.secToken);
    const comeIn = await knownClient(service, files.accessToken);
    await comeIn();
    const stayIn = () => Promise.all([signIn(service!, appId, files.secToken), comeIn()]);
    const stayingIn = setInterval(() => void stayIn().catch(() => undefined), loginEveryMs);
    process.stderr.write(banner(version, service, simulator, config.dataFolder, files, deviceId, appId));
    process.stderr.write(`breezeway listening on ${service.baseUrl}\n`);
    if (!told.aborted) await new Promise((resolve) => told.addEventListener("abort", resolve));
    clearInterval(stayingIn);
  } finally {
    await service?.stop();
    await simulator.stop();
  }
}

/** The demo's password is printed in its README: nobody but this machine may reach it. */
function refuseOutside({ host, baseUrl }: Config): void {
  const isLoopback = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (!isLoopback || (baseUrl !== undefined && !/^https?:\/\/(127\.|localhost|\[::1\])/.test(baseUrl))) {
    throw new ConfigurationError(["The demo listens on loopback only. Use breezeway serve for anything else"]);
  }
}

async function onFreePort<Started>(port: number, who: string, start: (port: number) => Promise<Started>) {
  for (let candidate = port; ; candidate++) {
    try {
      const started = await start(candidate);
      if (candidate !== port) process.stderr.write(`${who} takes port ${candidate}, because ${port} is taken.\n`);
      return started;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isTaken || candidate >= port + 20) throw error;
    }
  }
}

/** Makes the demo's tenant, user, lamp and link where they are missing, and lets life go on in the house. */
async function moveIn(service: Service, simulator: Simulator, tokenFile: string) {
  const { identity, administration } = service.parts;
  const tenant = await identity
    .addTenant({ name: tenantName })
    .catch((error) => (error instanceof Conflict ? identity.findTenant(tenantName) : Promise.reject(error)));
  const appId = tenant.tenantId;
  const user = await identity.addUser({ tenant: tenantName, ...login, isAdmin: false }).catch((error) => {
    if (!(error instanceof Conflict)) throw error;
  });
  if (user !== undefined) {
    await administration.run("device add", { user: String(user), name: "Hall lamp", type: "Lamp" });
  }
  const { secToken, userId } = await signIn(service, appId, tokenFile);
  const deviceId = (await linkedDevice(service, userId, simulator)) ?? (await link(service, simulator, secToken));
  simulator.startLife(simulator.accountIds()[0]!, { everyMs: lifeEveryMs });
  return { deviceId, appId };
}

/** The link of an earlier start; none when the simulated house is a new one, whose token it can't know. */
async function linkedDevice({ parts }: Service, userId: UserId, simulator: Simulator): Promise<string | undefined> {
  if (simulator.accountIds().length === 0) return undefined;
  const virtual = (await parts.devices.list(userId)).find(({ isVirtual }) => isVirtual);
  return virtual && String(virtual.id);
}

/** Gives the house's token to the adaptor, as any client would; a link that is there already gets the new token. */
async function link(service: Service, simulator: Simulator, secToken: string): Promise<string> {
  const [known] = simulator.accountIds();
  const anAccessToken = known === undefined ? simulator.addAccount(house).token : simulator.issueToken(known);
  const give = async (method: "POST" | "PUT") => {
    const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken });
    const answer = await fetch(`${service.baseUrl}/adaptor/federatedtokens`, { method, body });
    return (await answer.json()) as { DeviceId?: string; errorCode?: number; errorMessage?: string };
  };
  const posted = await give("POST");
  const linked = posted.errorCode === 118 ? await give("PUT") : posted;
  if (!linked.DeviceId) throw new Error(`The demo house could not be linked: ${linked.errorMessage}`);
  return linked.DeviceId;
}

async function signIn({ parts }: Service, appId: number, tokenFile: string) {
  const signedIn = await parts.identity.login({ ...login, appId: String(appId), source: "demo" });
  keepSecret(tokenFile, signedIn.secToken);
  return signedIn;
}

/** An enterprise client of the demo's tenant; what it answers gets an access token over HTTP, as any client would. */
async function knownClient({ baseUrl, parts: { identity, oauth } }: Service, tokenFile: string) {
  const { tenantId } = await identity.findTenant(tenantName);
  const known = (await oauth.listClients(tenantId)).find(({ name }) => name === clientName);
  const made = known
    ? await oauth.rotateSecret(known.id, 0)
    : await oauth.addClient({
        tenant: tenantName,
        name: clientName,
        kind: "enterprise",
        redirectUris: [],
        requiresPkce: false,
      });
  const { client, secret } = made;
  return async () => {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client.id,
      client_secret: secret,
    });
    const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body });
    const { access_token } = (await answer.json()) as { access_token: string };
    keepSecret(tokenFile, access_token);
  };
}

function keepSecret(file: string, secret: string): void {
  writeFileSync(file, secret, { mode: 0o600 });
  chmodSync(file, 0o600);
}

function banner(
  version: string,
  { baseUrl }: Service,
  simulator: Simulator,
  folder: string,
  files: { readonly secToken: string; readonly accessToken: string },
  deviceId: string,
  appId: number,
): string {
  const shown = (path: string) => relative(process.cwd(), path) || ".";
  const elsewhere = simulator.port === simulatorPort ? "" : ` --simulator ${simulator.url}`;
  return `
  Breezeway ${version}   demo house "Maple Street" is live

  Service    ${baseUrl}   user ${login.name}, password ${login.password}, appId ${appId}
  API docs   ${baseUrl}/docs
  Simulator  ${simulator.url}   (open it in a browser: scenes and faults)
  Data       ${shown(folder)}   (delete the folder to start over)

  Look       curl -s ${baseUrl}/v3/devices/${deviceId} -H "Authorization: Bearer $(cat ${shown(files.accessToken)})"
             curl -s ${baseUrl}/zdk/services/zamapi/getDeviceList -d secToken=$(cat ${shown(files.secToken)})
  Change     npx breezeway sim trigger smoke${elsewhere}

  Ctrl-C stops and keeps everything.

`;
}
