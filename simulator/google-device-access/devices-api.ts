import type { Account, Device, Fields, Structure } from "./account.ts";
import type { RateLimits } from "./rate-limits.ts";
import { notFound, Refused } from "./refused.ts";
import { executeCommand } from "./thermostat-commands.ts";

export interface DevicesApiParts {
  readonly projectId: string;
  readonly rates: RateLimits;
  readonly nowMs: () => number;
}

export interface DevicesCall {
  readonly account: Account;
  readonly method: string;
  /** Below `/v1/`. */
  readonly path: string;
  readonly body: Fields;
}

/** The interface for smart devices: lists, single objects and commands. */
export function answerDevices(parts: DevicesApiParts, call: DevicesCall): object {
  const { rates, nowMs } = parts;
  const { account, path, method } = call;
  const project = `enterprises/${parts.projectId}`;
  if (path !== project && !path.startsWith(`${project}/`)) {
    throw new Refused(403, "PERMISSION_DENIED", "The caller does not have permission.");
  }
  const rest = path.slice(project.length + 1).split("/");
  if (method === "POST") return execute(parts, call);
  if (method !== "GET") throw notFound();
  const isDevice = rest[0] === "devices" && rest.length === 2;
  rates.take(isDevice ? "get" : "list", account.userId, nowMs());
  if (isDevice) return shown(deviceOf(account, path));
  if (rest[0] === "devices" && rest.length === 1) {
    account.isListed = true;
    return listed("devices", account.shared().map(shown));
  }
  if (rest[0] !== "structures") throw notFound();
  return answerStructures(account, path, rest);
}

function answerStructures(account: Account, path: string, rest: readonly string[]): object {
  if (rest.length === 1) return listed("structures", [...account.structures.values()].map(shownStructure));
  const structure = account.structures.get(path.split("/").slice(0, 4).join("/"));
  if (!structure) throw notFound();
  if (rest.length === 2) return shownStructure(structure);
  const rooms = [...structure.rooms].map(([name, customName]) => ({
    name,
    traits: { "sdm.structures.traits.RoomInfo": { customName } },
  }));
  if (rest.length === 3 && rest[2] === "rooms") return listed("rooms", rooms);
  const room = rooms.find(({ name }) => name === path);
  if (!room) throw notFound();
  return room;
}

function execute({ rates, nowMs }: DevicesApiParts, { account, path, body }: DevicesCall): object {
  const [name, verb] = path.split(":");
  if (verb !== "executeCommand") throw notFound();
  const device = deviceOf(account, name!);
  rates.take("execute", account.userId, nowMs());
  rates.take("device", device.name, nowMs());
  const params = typeof body.params === "object" && body.params !== null ? (body.params as Fields) : {};
  executeCommand(account, device, body.command, params, nowMs());
  return {};
}

function deviceOf(account: Account, name: string): Device {
  const device = account.shared().find((one) => one.name === name);
  if (!device) throw notFound(`Device ${name} not found.`);
  return device;
}

/** Nothing shared: an empty object, without the list. */
function listed(member: string, objects: readonly object[]): object {
  return objects.length === 0 ? {} : { [member]: objects };
}

function shown({ name, type, traits, parentRelations }: Device): object {
  return { name, type, assignee: parentRelations[0]?.parent ?? "", traits, parentRelations };
}

function shownStructure({ name, customName }: Structure): object {
  return { name, traits: { "sdm.structures.traits.Info": { customName } } };
}
