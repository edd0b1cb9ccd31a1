import type { AlexaMessage, Property } from "./alexa-message.ts";

/** An endpoint as Alexa knows it from discovery and reports. */
export interface KnownEndpoint {
  readonly endpointId: string;
  readonly friendlyName: string;
  readonly displayCategories: readonly string[];
  readonly capabilities: readonly object[];
}

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
  /** All events that came through the gateway, oldest first. */
  readonly events: AlexaMessage[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(name: string, region: Region) {
    this.name = name;
    this.region = region;
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
      }
    }
    const change = payload.change as { readonly properties: readonly Property[] } | undefined;
    const properties = [...(message.context?.properties ?? []), ...(change?.properties ?? [])];
    if (!endpoint || properties.length === 0) return;
    const state = this.states.get(endpoint.endpointId) ?? new Map<string, unknown>();
    for (const { namespace, name, value } of properties) state.set(`${namespace}.${name}`, value);
    this.states.set(endpoint.endpointId, state);
  }

  /** An event that the gateway has accepted. */
  receive(message: AlexaMessage): void {
    this.events.push(message);
    this.learn(message);
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
