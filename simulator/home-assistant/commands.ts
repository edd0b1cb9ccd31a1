import { compressedState, plainState } from "./compressed-state.ts";
import type { Faults } from "./faults.ts";
import { type Instance, newId } from "./instance.ts";
import { Refused } from "./refused.ts";
import { callService, serviceNames } from "./services.ts";

export interface Message {
  readonly id: number;
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What commands need of the connection on which they came. */
export interface Client {
  readonly parts: { readonly instance: Instance; readonly faults: Faults };
  /** The entities of each subscription by its id; undefined means all. */
  readonly entitySubscriptions: Map<number, ReadonlySet<string> | undefined>;
  /** The event type of each subscription by its id. */
  readonly eventSubscriptions: Map<number, string>;
  coalesces: boolean;
  send(message: object): void;
}

/** Carries out a command of an authenticated client, and sends its answer. */
export function answerCommand(client: Client, message: Message): void {
  const command = commands[message.type];
  if (!command) throw new Refused("unknown_command", "Unknown command.");
  command(client, message);
}

type Command = (client: Client, message: Message) => void;

const commands: Readonly<Record<string, Command>> = {
  ping: (client, { id }) => client.send({ id, type: "pong" }),
  supported_features: (client, { id, features }) => {
    succeed(client, id, null);
    client.coalesces = (features as Record<string, unknown> | undefined)?.coalesce_messages === 1;
  },
  subscribe_entities: subscribeEntities,
  subscribe_events: (client, { id, event_type }) => {
    client.eventSubscriptions.set(id, String(event_type));
    succeed(client, id, null);
  },
  unsubscribe_events: (client, { id, subscription }) => {
    const wasKnown =
      client.entitySubscriptions.delete(subscription as number) ||
      client.eventSubscriptions.delete(subscription as number);
    if (!wasKnown) throw new Refused("not_found", "Subscription not found.");
    succeed(client, id, null);
  },
  get_config: (client, { id }) => {
    const { temperatureUnit, runState, locationName, version } = client.parts.instance;
    const unit_system = { temperature: temperatureUnit, length: "km", mass: "g", volume: "L", pressure: "Pa" };
    succeed(client, id, { unit_system, state: runState, location_name: locationName, version });
  },
  get_states: (client, { id }) => {
    const states = [...client.parts.instance.states];
    succeed(
      client,
      id,
      states.map(([entityId, state]) => plainState(entityId, state)),
    );
  },
  get_services: (client, { id }) => succeed(client, id, serviceNames()),
  "config/area_registry/list": (client, { id }) => succeed(client, id, [...client.parts.instance.areas.values()]),
  "config/device_registry/list": (client, { id }) => succeed(client, id, [...client.parts.instance.devices.values()]),
  "config/entity_registry/list": (client, { id }) => {
    const entries = [...client.parts.instance.entities.values()];
    succeed(
      client,
      id,
      entries.map(({ device_class, original_device_class, ...entry }) => entry),
    );
  },
  "config/entity_registry/get_entries": (client, { id, entity_ids }) => {
    const entries = (entity_ids as string[]).map((entityId) => [
      entityId,
      client.parts.instance.entities.get(entityId) ?? null,
    ]);
    succeed(client, id, Object.fromEntries(entries));
  },
  call_service: (client, { id, domain, service, target, service_data }) => {
    const { instance, faults } = client.parts;
    const contextId = newId();
    const data = (service_data ?? {}) as Record<string, unknown>;
    const wanted = (target as Record<string, unknown> | undefined)?.entity_id ?? data.entity_id ?? [];
    const entityIds = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
    const call = { domain: String(domain), service: String(service), data, contextId };
    instance.touchedMs = Date.now();
    const { ignoresCalls, shownInstead } = faults;
    if (shownInstead) for (const entityId of entityIds) instance.change(entityId, undefined, shownInstead, contextId);
    else if (!ignoresCalls) callService(instance, entityIds, call);
    succeed(client, id, { context: { id: contextId, parent_id: null, user_id: null }, response: null });
  },
};

function subscribeEntities(client: Client, { id, entity_ids }: Message): void {
  // As in the real instance, an empty list means all entities.
  const wanted = Array.isArray(entity_ids) && entity_ids.length > 0 ? new Set(entity_ids.map(String)) : undefined;
  client.entitySubscriptions.set(id, wanted);
  succeed(client, id, null);
  const states = [...client.parts.instance.states].filter(([entityId]) => !wanted || wanted.has(entityId));
  const added = Object.fromEntries(states.map(([entityId, state]) => [entityId, compressedState(state)]));
  client.send({ id, type: "event", event: { a: added } });
}

function succeed(client: Client, id: number, result: unknown): void {
  client.send({ id, type: "result", success: true, result });
}
