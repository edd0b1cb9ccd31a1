import type { NewDevice } from "../devices/inventory.ts";
import type { Identity } from "../identity/identity.ts";
import { BadParameter, NotFound } from "../model/errors.ts";
import { type DeviceId, parseId, type TenantId, type UserId } from "../model/ids.ts";

export interface AdministrationParts {
  readonly identity: Identity;
  readonly addDevice: (device: NewDevice) => Promise<DeviceId>;
  readonly links: () => Promise<readonly { readonly state: string; readonly count: number }[]>;
}

/** What the running service knows about itself; undefined when a command opened the store on its own. */
export interface ServiceFacts {
  readonly baseUrl: string;
}

/**
 * The acts of an administrator, each from plain values to a plain answer, so that they run alike in the service (through
 * its control socket) and in a command that opened the store itself.
 */
export interface Administration {
  run(command: string, input: unknown, service?: ServiceFacts): Promise<object>;
}

export function administrationOn({ identity, addDevice, links }: AdministrationParts): Administration {
  const acts: Record<string, (input: Input, service: ServiceFacts | undefined) => Promise<object>> = {
    async "tenant add"(input) {
      const appId = optional(input, "app-id");
      return identity.addTenant({ name: text(input, "name"), ...(appId && { appId: id<TenantId>("app-id", appId) }) });
    },
    "tenant list": async () => ({ tenants: await identity.listTenants() }),
    async "user add"(input) {
      const userId = await identity.addUser({
        tenant: text(input, "tenant"),
        name: text(input, "name"),
        password: text(input, "password"),
        isAdmin: input.admin === true,
      });
      return { userId };
    },
    async "device add"(input) {
      const userId = id<UserId>("user", text(input, "user"));
      return { deviceId: await addDevice({ userId, name: text(input, "name"), typeName: text(input, "type") }) };
    },
    async status(_, service) {
      const counts = Object.fromEntries((await links()).map(({ state, count }) => [state, count]));
      const running = service ? { running: true, baseUrl: service.baseUrl } : { running: false };
      return { ...running, tenants: (await identity.listTenants()).length, links: counts };
    },
  };
  return {
    async run(command, input, service) {
      const act = Object.hasOwn(acts, command) ? acts[command] : undefined;
      if (!act) throw new NotFound(`There is no command "${command}" in this version of the service.`);
      return act((input ?? {}) as Input, service);
    },
  };
}

type Input = Readonly<Record<string, unknown>>;

function optional(input: Input, name: string): string | undefined {
  const value = input[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function text(input: Input, name: string): string {
  const value = optional(input, name);
  if (value === undefined) throw new BadParameter(name, `--${name} is missing.`);
  return value;
}

function id<Id extends TenantId | UserId | DeviceId>(name: string, given: string): Id {
  const parsed = parseId<Id>(given);
  if (parsed === undefined)
    throw new BadParameter(name, `--${name} must be a number from 1 to 2147483647, not "${given}".`);
  return parsed;
}
