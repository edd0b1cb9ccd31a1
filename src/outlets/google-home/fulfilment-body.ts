import type { Execution } from "../../assistants/google-home/intents.ts";
import { BadParameter } from "../../model/errors.ts";

/** A request of Google. */
export interface FulfilmentRequest {
  readonly requestId: string;
  readonly intent: Intent;
}

export type Intent =
  | { readonly name: "SYNC" | "DISCONNECT" }
  | { readonly name: "QUERY"; readonly deviceIds: readonly string[] }
  | { readonly name: "EXECUTE"; readonly executions: readonly Execution[] };

/** Devices in one request, over all its commands. */
export const devicesPerRequest = 1_000;
const requestIdCharacters = 256;
const stepsPerDevice = 4;
const intentPrefix = "action.devices.";

type Json = Readonly<Record<string, unknown>>;

/** Reads the body. Members that we do not know are ignored: Google adds new ones. */
export function readFulfilment(value: unknown): FulfilmentRequest {
  const { requestId, inputs } = objectIn("body", value);
  if (typeof requestId !== "string" || requestId === "" || requestId.length > requestIdCharacters) {
    throw new BadParameter("requestId", "The member requestId must be a text.");
  }
  const [input, ...more] = listIn("inputs", inputs);
  if (input === undefined || more.length > 0) {
    throw new BadParameter("inputs", "The member inputs must hold exactly one intent.");
  }
  const { intent, payload } = objectIn("inputs", input);
  return { requestId, intent: readIntent(intent, payload) };
}

function readIntent(intent: unknown, payload: unknown): Intent {
  switch (intent) {
    case `${intentPrefix}SYNC`:
      return { name: "SYNC" };
    case `${intentPrefix}DISCONNECT`:
      return { name: "DISCONNECT" };
    case `${intentPrefix}QUERY`: {
      const deviceIds = [...new Set(idsIn(objectIn("payload", payload).devices))];
      return { name: "QUERY", deviceIds: bounded(deviceIds) };
    }
    case `${intentPrefix}EXECUTE`: {
      const executions = listIn("commands", objectIn("payload", payload).commands).map(readExecution);
      bounded(executions.flatMap(({ deviceIds }) => deviceIds));
      return { name: "EXECUTE", executions };
    }
    default:
      throw new BadParameter(
        "intent",
        "The member intent must be SYNC, QUERY, EXECUTE or DISCONNECT of action.devices.",
      );
  }
}

function readExecution(value: unknown): Execution {
  const { devices, execution } = objectIn("commands", value);
  const steps = listIn("execution", execution).map((step) => {
    const { command, params } = objectIn("execution", step);
    if (typeof command !== "string") throw new BadParameter("command", "The member command must be a text.");
    return { command, params: params === undefined ? {} : objectIn("params", params) };
  });
  if (steps.length === 0 || steps.length > stepsPerDevice) {
    throw new BadParameter("execution", `The member execution must hold 1 to ${stepsPerDevice} commands.`);
  }
  return { deviceIds: [...new Set(idsIn(devices))], steps };
}

function idsIn(devices: unknown): readonly string[] {
  return listIn("devices", devices).map((device) => {
    const { id } = objectIn("devices", device);
    if (typeof id !== "string") throw new BadParameter("devices", "Each of devices must have an id.");
    return id;
  });
}

function bounded(deviceIds: readonly string[]): readonly string[] {
  if (deviceIds.length > devicesPerRequest) {
    throw new BadParameter("devices", `A request may name at most ${devicesPerRequest} devices.`);
  }
  return deviceIds;
}

function objectIn(name: string, value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter(name, `The member ${name} must be a JSON object.`);
  }
  return value as Json;
}

function listIn(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadParameter(name, `The member ${name} must be a list.`);
  return value;
}
