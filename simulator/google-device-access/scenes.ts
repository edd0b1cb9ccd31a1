import { Refusal } from "../refusal.ts";
import type { Account, Device } from "./account.ts";
import { type Delivery, noDeliveryFaults } from "./delivery.ts";
import { type Faults, namedFaults } from "./faults.ts";
import { Refused } from "./refused.ts";
import { executeCommand, settleHvac, traitOf } from "./thermostat-commands.ts";
import type { Tokens } from "./tokens.ts";

/** What a scene may change. */
export interface SceneStage {
  readonly account: Account;
  readonly tokens: Pick<Tokens, "revokeAll">;
  readonly delivery: Pick<Delivery, "faults" | "flush">;
  readonly faults: Pick<Faults, "set">;
  readonly nowMs: () => number;
}

/** `house`: what happens at home. `fault`: what goes wrong between Google and its clients. */
export type Choice = "house" | "fault";

export interface Scene {
  readonly label: string;
  readonly choice: Choice;
  play(stage: SceneStage): void;
}

const prefix = "sdm.devices.traits.";
const range = { min: 9, max: 32 };

/** What a person or chance does, by name. */
export const scenes: ReadonlyMap<string, Scene> = new Map<string, Scene>([
  [
    "cold",
    house(
      "Open a window",
      eachThermostat((account, device) => warm(account, device, -2)),
    ),
  ],
  [
    "warm",
    house(
      "Let the sun in",
      eachThermostat((account, device) => warm(account, device, 2)),
    ),
  ],
  ["target-up", house("Turn the dial up", turnDial(0.5))],
  ["target-down", house("Turn the dial down", turnDial(-0.5))],
  ["eco", house("Eco on", by("ThermostatEco.SetMode", { mode: "MANUAL_ECO" }))],
  ["no-eco", house("Eco off", by("ThermostatEco.SetMode", { mode: "OFF" }))],
  ["off", house("Heating off", by("ThermostatMode.SetMode", { mode: "OFF" }))],
  ["heat", house("Heating on", by("ThermostatMode.SetMode", { mode: "HEAT" }))],
  ["fan", house("Fan on", by("Fan.SetTimer", { timerMode: "ON" }))],
  ["no-fan", house("Fan off", by("Fan.SetTimer", { timerMode: "OFF" }))],
  ["offline", house("Wi-Fi fails", connectivity("OFFLINE"))],
  ["online", house("Wi-Fi returns", connectivity("ONLINE"))],
  ["unshare", house("Stop sharing one", ({ account }) => shareLast(account, false))],
  ["share", house("Share it again", ({ account }) => shareLast(account, true))],
  ["revoke", fault("Remove the project's access", ({ account, tokens }) => tokens.revokeAll(account))],
  ["lose-events", fault("Lose all events", ({ delivery }) => Object.assign(delivery.faults, { loses: true }))],
  ["duplicate", fault("Send events twice", ({ delivery }) => Object.assign(delivery.faults, { duplicates: true }))],
  ["shuffle", fault("Shuffle four events", ({ delivery }) => Object.assign(delivery.faults, { shuffles: 4 }))],
  ["mistake", fault("Send a mistaken update", eachThermostat(tellMistake))],
  ["too-many", fault("Refuse: too many calls", ({ faults }) => faults.set("devices", namedFaults.rateLimited))],
  ["unavailable", fault("Refuse: unavailable", ({ faults }) => faults.set("devices", namedFaults.unavailable))],
  ["no-feed", fault("Refuse pulls of events", ({ faults }) => faults.set("feed", namedFaults.forbidden))],
  ["repair", fault("Repair all", repair)],
]);

/** Plays a scene. Throws a refusal for an unknown one. */
export function playScene(stage: SceneStage, name: string): void {
  const scene = scenes.get(name);
  if (!scene)
    throw new Refusal(400, "bad_argument", `There is no scene ${name}. Known: ${[...scenes.keys()].join(", ")}.`);
  scene.play(stage);
}

function house(label: string, play: Scene["play"]): Scene {
  return { label, choice: "house", play };
}

function fault(label: string, play: Scene["play"]): Scene {
  return { label, choice: "fault", play };
}

export function thermostatsOf({ devices }: Account): readonly Device[] {
  return [...devices.values()].filter(({ type }) => type.endsWith("THERMOSTAT"));
}

function eachThermostat(act: (account: Account, device: Device, nowMs: number) => void): Scene["play"] {
  return ({ account, nowMs }) => {
    for (const device of thermostatsOf(account)) act(account, device, nowMs());
  };
}

/** Google sends such an update now and then. The thermostat keeps its modes and targets. */
function tellMistake(account: Account, { name }: Device): void {
  account.tell(name, {
    [`${prefix}ThermostatMode`]: { mode: "OFF", availableModes: ["OFF"] },
    [`${prefix}ThermostatEco`]: { mode: "OFF", availableModes: ["OFF"], heatCelsius: 0, coolCelsius: 0 },
  });
}

/** A room becomes warmer or colder; the equipment follows. */
export function warm(account: Account, device: Device, byCelsius: number): void {
  const ambient = Number(traitOf(device, "Temperature").ambientTemperatureCelsius) + byCelsius;
  account.change(device.name, {
    [`${prefix}Temperature`]: { ambientTemperatureCelsius: Math.round(ambient * 100) / 100 },
  });
  settleHvac(account, device);
}

/** A person at the thermostat: the same rules as for clients, and what is impossible has no effect. */
function by(command: string, params: Readonly<Record<string, unknown>>): Scene["play"] {
  return eachThermostat((account, device, nowMs) => attempt(account, device, command, params, nowMs));
}

function turnDial(byCelsius: number): Scene["play"] {
  return eachThermostat((account, device, nowMs) => {
    const { heatCelsius } = traitOf(device, "ThermostatTemperatureSetpoint");
    if (typeof heatCelsius !== "number") return;
    const turned = Math.min(range.max, Math.max(range.min, heatCelsius + byCelsius));
    attempt(account, device, "ThermostatTemperatureSetpoint.SetHeat", { heatCelsius: turned }, nowMs);
  });
}

export function attempt(
  account: Account,
  device: Device,
  command: string,
  params: Readonly<Record<string, unknown>>,
  nowMs: number,
): void {
  try {
    executeCommand(account, device, `sdm.devices.commands.${command}`, params, nowMs);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

function connectivity(status: "ONLINE" | "OFFLINE"): Scene["play"] {
  return eachThermostat((account, { name }) => account.change(name, { [`${prefix}Connectivity`]: { status } }));
}

function shareLast(account: Account, isShared: boolean): void {
  const last = thermostatsOf(account).at(-1);
  if (last) account.share(last.name, isShared);
}

function repair({ delivery, faults }: SceneStage): void {
  Object.assign(delivery.faults, noDeliveryFaults());
  delivery.flush();
  for (const area of ["devices", "feed", "tokens"] as const) faults.set(area, undefined);
}
