import { setTimeout as pause } from "node:timers/promises";
import { BreezewayError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Call, OwnCommand } from "../command.ts";
import type { FanOutcome, FanReading } from "../devices/fan.ts";
import { id, number, optional } from "../input.ts";
import type { Noun } from "../noun.ts";
import type { Api } from "../remote/api.ts";
import { serviceOf, withOwnerOptions } from "../remote/chosen-service.ts";
import { isOutage } from "../remote/service-errors.ts";

const pollEveryMs = 250;
/** After the ecosystem has accepted the request, wait this long for the stream to show the fan. */
const confirmationMs = 5_000;

const [on, off] = (["on", "off"] as const).map(
  (verb): OwnCommand => ({
    name: `fan ${verb}`,
    meaning:
      verb === "on"
        ? "start the fan of a thermostat, and report the outcome"
        : "stop the fan of a thermostat, and report the outcome",
    examples: [`fan ${verb} 1`, `fan ${verb} 1 Hallway`, `fan ${verb} 1 1.2 --wait 60`],
    arguments: [
      { name: "device", isRequired: true, meaning: "the linked account's device; see: breezeway device list" },
      { name: "thermostat", meaning: "its name, or structure.thermostat as in 1.2; may be left out when there is one" },
    ],
    options: (command) =>
      withOwnerOptions(command).option("--wait <seconds>", "how many seconds to wait for the outcome", "40"),
    run: (call) => request(call, verb === "on" ? "true" : "false"),
  }),
);

async function request(call: Call, wanted: "true" | "false"): Promise<void> {
  const { chosenThermostat, fanOutcome } = await import("../devices/fan.ts");
  const { typed, print } = call;
  const device = id<DeviceId>(typed, "device", "The device's id");
  const waitMs = number(typed, "wait", 1, 600) * 1_000;
  const api = await serviceOf(call, { device: String(device) });
  const whole = await print.during("reading the device", api.getDevice(device));
  const { words, place } = chosenThermostat(whole, optional(typed, "thermostat"));
  const names = { active: `${place}.fan_timer_active`, request: `${place}.fan_timer_active.requestWrite` };
  const read = () => readFan(api, device, names);
  const before = await read();
  await api.write((sdk) => sdk.setDeviceAttribute(device, names.request, wanted), device);
  const outcome = await print.during(
    `waiting for ${words}`,
    (async () => {
      const begunMs = performance.now();
      let takenMs: number | undefined;
      for (;;) {
        const latest = await read().then(
          (now) => fanOutcome(wanted, before, now),
          (error): FanOutcome => {
            // The request is stored and may have been carried out: a service that restarts must not hide that.
            if (isOutage(error)) return { state: "open" };
            throw error;
          },
        );
        const nowMs = performance.now();
        if (latest.state === "taken") takenMs ??= nowMs;
        const isOver = nowMs - begunMs >= waitMs || (takenMs !== undefined && nowMs - takenMs >= confirmationMs);
        if ((latest.state !== "open" && latest.state !== "taken") || isOver) return latest;
        await pause(pollEveryMs);
      }
    })(),
  );
  const receipt = `See: breezeway device get ${device} ${quoted(words.split(" › ").at(-1)!)}`;
  if (outcome.state === "refused")
    throw new FanRefused(`The fan of ${words} was not switched: ${outcome.reason}. ${receipt}`);
  if (outcome.state === "open") {
    throw new FanRefused(
      `The outcome of the request for ${words} is not known yet; the service never sends it twice. ${receipt}`,
    );
  }
  print.data({ deviceId: device, thermostat: words, wanted: wanted === "true", outcome: outcome.state }, () => {
    if (outcome.state === "taken")
      return `The ecosystem accepted the request for ${words}; the stream does not show the fan yet. ${receipt}`;
    return `The fan of ${words} ${outcome.state === "running" ? "runs" : "is off"}.`;
  });
}

async function readFan(
  api: Api,
  device: DeviceId,
  names: { readonly active: string; readonly request: string },
): Promise<FanReading> {
  const { attributes } = await api.getDevice(device, { attributes: [names.active, names.request] });
  return { active: attributes[names.active], request: attributes[names.request] };
}

function quoted(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `"${word}"`;
}

/** The request was delivered, but the fan was not switched. */
class FanRefused extends BreezewayError {
  readonly code = "failed";
}

export const fan: Noun = { name: "fan", alias: "fans", meaning: "fans of thermostats", commands: [on!, off!] };
