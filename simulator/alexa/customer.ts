import type { AlexaMessage, Property } from "./alexa-message.ts";

/** An endpoint as Alexa knows it from discovery and reports. */
export interface KnownEndpoint {
  readonly endpointId: string;
  readonly friendlyName: string;
  readonly displayCategories: readonly string[];
  readonly capabilities: readonly object[];
}

/** The endpoints that Alexa takes of one customer and skill, and in one event. */
export const mostEndpoints = 300;

export type Region = "na" | "eu" | "fe";

/** A person with an Alexa account: the devices that Alexa knows, and their states as Alexa was told last. */
export class Customer {
  readonly name: string;
  readonly region: Region;
  /** Whether the skill is enabled. */
  isEnabled = true;
  readonly endpoints = new Map<string, KnownEndpoint>();
  /** `interface.property` and its value, by endpoint. */
  readonly states = new Map<string, Map<string, unknown>>();
  /** When Alexa was told the state of an endpoint. */
  readonly reportedMs = new Map<string, number>();
  /** The events that came through the gateway, oldest first. */
  readonly events: AlexaMessage[] = [];
  /** Called with each event that came through the gateway. */
  onEvent: (message: AlexaMessage) => void = () => undefined;
  readonly #listeners = new Set<() => void>();
  readonly #keptEvents: number;

  /** `keptEvents`: how many events are kept; older ones are forgotten. */
  constructor(name: string, region: Region, keptEvents = Number.POSITIVE_INFINITY) {
    this.name = name;
    this.region = region;
    this.#keptEvents = keptEvents;
  }

  /** Whether Alexa takes the endpoints that this event adds. */
  hasRoomFor({ event: { header, payload } }: AlexaMessage): boolean {
    if (header.name !== "AddOrUpdateReport") return true;
    const added = (payload.endpoints as readonly KnownEndpoint[]).filter((one) => !this.endpoints.has(one.endpointId));
    return added.length === 0 || this.endpoints.size + added.length <= mostEndpoints;
  }

  /** An answer to a directive, or an event through the gateway. */
  learn(message: AlexaMessage): void {
    const { header, endpoint, payload } = message.event;
    if (header.name === "Discover.Response") this.endpoints.clear();
    if (header.name === "Discover.Response" || header.name === "AddOrUpdateReport") {
      for (const one of payload.endpoints as readonly KnownEndpoint[]) this.endpoints.set(one.endpointId, one);
    }
    if (header.name === "DeleteReport") {
      for (const { endpointId } of payload.endpoints as readonly KnownEndpoint[]) {
        this.endpoints.delete(endpointId);
        this.states.delete(endpointId);
        this.reportedMs.delete(endpointId);
      }
    }
    const change = payload.change as { readonly properties: readonly Property[] } | undefined;
    const properties = [...(message.context?.properties ?? []), ...(change?.properties ?? [])];
    if (!endpoint || properties.length === 0) return;
    // A message holds all properties: one that it leaves out is not known any more.
    const state = new Map(properties.map(({ namespace, name, value }) => [`${namespace}.${name}`, value]));
    this.states.set(endpoint.endpointId, state);
    this.reportedMs.set(endpoint.endpointId, Date.now());
  }

  /** An event that the gateway has accepted. */
  receive(message: AlexaMessage): void {
    this.events.push(message);
    if (this.events.length > this.#keptEvents) this.events.shift();
    this.learn(message);
    this.onEvent(message);
    for (const listener of this.#listeners) listener();
  }

  /** Resolves with the first event from now on, or among those that came, that fits. */
  event(fits: (message: AlexaMessage) => boolean): Promise<AlexaMessage> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.events.find(fits);
        if (!found) return;
        this.#listeners.delete(look);
        resolve(found);
      };
      this.#listeners.add(look);
      look();
    });
  }
}
