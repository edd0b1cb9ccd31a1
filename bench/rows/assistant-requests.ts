import {
  addAlexaOutlet,
  addGoogleOutlet,
  call,
  directiveBody,
  intentBody,
  jsonRequest,
  simulatedMakers,
  syncGoogle,
  tokensOf,
} from "../assisted-homes.ts";
import { cpuPerRequest, inMicroseconds, ratios, type Side, summary } from "../comparison.ts";
import { Load } from "../load.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { prepare } from "../prepared-folder.ts";
import { readableDevices } from "../readable-devices.ts";
import { getRequest } from "../requests.ts";
import type { Result } from "../row.ts";

const full = 10;
const things = 76;
const scope = "devices:read devices:control";
const requests = { read: 3_000, discovery: 300, command: 60 };

/** What a discovery of a full house costs beside a read of its device, and what a command costs. */
export async function requestCosts(progress: (sentence: string) => void): Promise<readonly Result[]> {
  await using finishing = new AsyncDisposableStack();
  progress(`linking ${full} accounts of ${things} things`);
  const { accounts, full: devices } = await readableDevices(full, { writesPerHour: 10_000_000 });
  finishing.use(accounts);
  const makers = finishing.use(await simulatedMakers());
  const users = accounts.devices.slice(full).map(({ userId }) => userId);
  const [google, alexa] = await prepare(accounts.folder, async (parts) => [
    await tokensOf(parts, await addGoogleOutlet(parts, accounts.tenantId, makers), users, scope),
    await tokensOf(parts, await addAlexaOutlet(parts, accounts.tenantId, makers), users, scope),
  ]);
  const service = finishing.use(await MeasuredProcess.service(accounts.folder.settings));
  await accounts.untilAllAre("live");
  const load = finishing.use(new Load(service));
  const known = [];
  for (const token of google!) known.push(await syncGoogle(service.url, makers, token));
  const discovered = await call(
    service.url,
    "/alexa/v3/directives",
    directiveBody("Alexa.Discovery Discover", alexa![0]!),
  );
  checkSizes(known[0]!.devices, discovered.event.payload.endpoints);

  const side = (count: number, build: (turn: number) => string, wanted = ""): Side => {
    let turn = 0;
    const onAnswer = ({ body }: { readonly body: Buffer }) => {
      if (!body.includes(wanted)) throw new Error(`an answer is not ${wanted}: ${body.toString().slice(0, 500)}`);
    };
    return { load, requests: count, next: () => build(turn++), ...(wanted !== "" && { onAnswer }) };
  };
  const of = <T>(some: readonly T[], turn: number) => some[turn % some.length]!;
  const directive = (named: string, token: string, endpointId?: string, payload?: object) =>
    jsonRequest("/alexa/v3/directives", directiveBody(named, token, endpointId, payload));
  const intent = (name: string, token: string, payload?: object) =>
    jsonRequest("/google-home/fulfilment", intentBody(name, payload), token);
  const thermostats = known.map((user) => idsOf(user.devices, "THERMOSTAT"));
  const modeOf = (turn: number) => (Math.floor(turn / requests.command) % 2 === 0 ? "eco" : "off");
  progress("reading, discovering and commanding in turns");
  const cpu = await cpuPerRequest({
    read: side(requests.read, (turn) =>
      getRequest(of(devices.devices, turn).path, of(devices.devices, turn).accessToken),
    ),
    things: side(requests.discovery, (turn) => getRequest("/v3/things", of(devices.devices, turn).accessToken)),
    SYNC: side(requests.discovery, (turn) => intent("SYNC", of(google!, turn))),
    Discover: side(requests.discovery, (turn) => directive("Alexa.Discovery Discover", of(alexa!, turn))),
    EXECUTE: side(
      requests.command,
      (turn) => {
        const id = of(of(thermostats, turn), Math.floor(turn / full));
        const execution = [
          { command: "action.devices.commands.ThermostatSetMode", params: { thermostatMode: modeOf(turn) } },
        ];
        return intent("EXECUTE", of(google!, turn), { commands: [{ devices: [{ id }], execution }] });
      },
      '"SUCCESS"',
    ),
    directive: side(
      requests.command,
      (turn) => {
        const id = of(of(thermostats, turn), 10 + Math.floor(turn / full));
        const payload = { thermostatMode: { value: modeOf(turn).toUpperCase() } };
        return directive("Alexa.ThermostatController SetThermostatMode", of(alexa!, turn), id, payload);
      },
      '"Response"',
    ),
  });
  progress(inMicroseconds(cpu));
  const discovery = (name: "SYNC" | "Discover", maker: string): Result => ({
    what: `CPU of a discovery of ${things} things by ${maker}`,
    reference: `GET of the device with ${devices.attributes} attributes`,
    ...summary(ratios(cpu[name], cpu.read)),
    unit: "x",
    bar: { atMost: 3 },
  });
  const command = (name: "EXECUTE" | "directive", what: string): Result => ({
    what: `CPU of ${what} that the ecosystem confirms, with all that follows from it`,
    reference: null,
    ...summary(cpu[name]),
    unit: "us",
    bar: null,
  });
  return [
    discovery("SYNC", "Google"),
    discovery("Discover", "Alexa"),
    {
      what: "CPU of the discovery by Google",
      reference: "GET /v3/things of the same things",
      ...summary(ratios(cpu.SYNC, cpu.things)),
      unit: "x",
      bar: null,
    },
    command("EXECUTE", "one EXECUTE"),
    command("directive", "one directive of Alexa"),
  ];
}

function checkSizes(devices: ReadonlyMap<string, object>, endpoints: readonly object[]): void {
  // The fan of a thermostat is a device of its own for both.
  if (devices.size < things || endpoints.length < things)
    throw new Error(`${devices.size} and ${endpoints.length} things`);
}

function idsOf(devices: ReadonlyMap<string, object>, type: string): readonly string[] {
  return [...devices].filter(([, device]) => (device as { type: string }).type.endsWith(type)).map(([id]) => id);
}
