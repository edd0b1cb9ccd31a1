import type { LinkedAccount } from "../account-linking/linked-account.ts";
import type { KnownDevice, SimulatedAssistant } from "../assistants/assistant.ts";
import { Conversation, type Settled } from "../assistants/conversation.ts";
import { exampleSentences, type Speakable } from "../assistants/example-sentences.ts";
import type { AlexaMessage } from "./alexa-message.ts";
import type { Customer, KnownEndpoint } from "./customer.ts";
import type { Amazon } from "./simulator.ts";
import { type Lambda, Skill } from "./skill.ts";
import { directivesFor, hasInterface } from "./wishes.ts";
import { abilities, isReachable, kindWord, reportWords, stateOf, stateWords } from "./words.ts";

export interface AlexaParts {
  readonly amazon: Amazon;
  readonly account: LinkedAccount;
  readonly lambda: Lambda;
}

/** Answers that mean that the access token is not accepted. */
const endedTypes = ["INVALID_AUTHORIZATION_CREDENTIAL", "EXPIRED_AUTHORIZATION_CREDENTIAL", "ACCEPT_GRANT_FAILED"];

/** Alexa with the account of one person. */
export class SimulatedAlexa implements SimulatedAssistant {
  readonly title = "Alexa";
  readonly #amazon: Amazon;
  readonly #account: LinkedAccount;
  readonly #lambda: Lambda;
  readonly #customer: Customer;
  readonly #conversation = new Conversation();
  /** Requests in progress, by the correlation tokens of their directives. */
  readonly #awaited = new Map<string, number>();

  constructor({ amazon, account, lambda }: AlexaParts) {
    this.#amazon = amazon;
    this.#account = account;
    this.#lambda = lambda;
    this.#customer = amazon.addCustomer("the person");
    this.#customer.onEvent = (message) => this.#hear(message);
  }

  get exchanges() {
    return this.#conversation.exchanges;
  }

  get reports() {
    return this.#conversation.reports;
  }

  get problem() {
    return this.#conversation.problem;
  }

  async link(): Promise<void> {
    await this.#conversation.alone(async () => {
      await this.#conversation.run("(The person enables the skill)", async (number) => {
        await this.#account.link();
        return this.#settled(await this.#skill(number).acceptGrant(this.#amazon.login), number);
      });
      if (this.problem === undefined) await this.#conversation.run(...this.#discovery());
    });
  }

  discover(): Promise<void> {
    return this.#conversation.speak(...this.#discovery());
  }

  #discovery(): [said: string, request: (number: number) => Promise<Settled>] {
    return ["Discover devices", async (number) => this.#settled(await this.#skill(number).discover(), number)];
  }

  say(sentence: string): Promise<void> {
    const endpoints = [...this.#customer.endpoints.values()];
    return this.#conversation.say(
      sentence,
      (wish) =>
        directivesFor(wish, endpoints).map((directive) => ({ directive, name: directive.endpoint.friendlyName })),
      async ({ directive: { endpoint, name, payload, instance } }, number) =>
        this.#settled(await this.#skill(number).directive(name, endpoint.endpointId, payload, instance), number),
    );
  }

  devices(): readonly KnownDevice[] {
    return [...this.#customer.endpoints.values()].map((endpoint) => {
      const state = this.#customer.states.get(endpoint.endpointId);
      return {
        id: endpoint.endpointId,
        name: endpoint.friendlyName,
        kind: kindWord(endpoint),
        // Discovery has no member for a room.
        room: undefined,
        abilities: abilities(endpoint),
        state: state && stateWords(state),
        isReachable: state !== undefined && isReachable(state),
        reportedMs: this.#customer.reportedMs.get(endpoint.endpointId),
      };
    });
  }

  examples(): readonly string[] {
    return exampleSentences([...this.#customer.endpoints.values()].map((endpoint) => this.#speakable(endpoint)));
  }

  #speakable(endpoint: KnownEndpoint): Speakable {
    const state = this.#customer.states.get(endpoint.endpointId);
    const has = (name: string) => hasInterface(endpoint, `Alexa.${name}`);
    const isOn = (property: string) => state?.get(`Alexa.${property}`) === "ON";
    const power = { isOn: isOn("PowerController.powerState"), isFan: endpoint.displayCategories.includes("FAN") };
    const toggle = { isOn: isOn("ToggleController.toggleState"), part: "fan", isFan: true };
    return {
      name: endpoint.friendlyName,
      ...(has("PowerController") && { switches: power }),
      ...(has("ToggleController") && { switches: toggle }),
      ...(has("ThermostatController") && {
        thermostat: { mode: String(state?.get("Alexa.ThermostatController.thermostatMode")).toLowerCase() },
      }),
      isDimmable: has("BrightnessController"),
      measuresTemperature: has("TemperatureSensor"),
    };
  }

  /** The skill, whose messages are those of the exchange. */
  #skill(number: number): Skill {
    return new Skill(
      this.#customer,
      () => this.#account.accessToken(),
      async (message) => {
        const { header } = (message as { readonly directive: AlexaMessage["event"] }).directive;
        this.#conversation.sent(number, header.name, message);
        const answer = await this.#lambda(message);
        this.#conversation.received(number, answer.event.header.name, answer);
        return answer;
      },
    );
  }

  #settled(message: AlexaMessage, number: number): Settled {
    const { header, payload } = message.event;
    switch (header.name) {
      case "ErrorResponse": {
        const words = `${payload.message} (${payload.type})`;
        return { outcome: "refused", words, hasEnded: endedTypes.includes(String(payload.type)) };
      }
      case "DeferredResponse":
        if (header.correlationToken !== undefined) this.#await(header.correlationToken, number);
        return { outcome: "inProgress", words: "In progress. The outcome comes later." };
      case "Discover.Response":
        return { outcome: "done", words: `I found ${(payload.endpoints as readonly unknown[]).length} devices.` };
      case "AcceptGrant.Response":
        return { outcome: "done", words: "The skill is enabled, and may report changes to me." };
      default:
        return this.#stateAnswer(message);
    }
  }

  #stateAnswer({ event, context }: AlexaMessage): Settled {
    const name = this.#nameOf(event.endpoint?.endpointId ?? "");
    const state = stateOf(context?.properties ?? []);
    if (isReachable(state)) return { outcome: "done", words: `${name}: ${stateWords(state)}.` };
    return { outcome: "unknown", words: `${name} is not reachable. The last known state: ${stateWords(state)}.` };
  }

  #await(correlationToken: string, number: number): void {
    // Requests that are not shown any more are forgotten.
    const shown = new Set(this.exchanges.map((one) => one.number));
    for (const [token, awaited] of this.#awaited) if (!shown.has(awaited)) this.#awaited.delete(token);
    this.#awaited.set(correlationToken, number);
  }

  #hear(message: AlexaMessage): void {
    const { header } = message.event;
    const words = reportWords(message, (endpointId) => this.#nameOf(endpointId));
    this.#conversation.reported({ name: header.name, message, words });
    const number = this.#awaited.get(header.correlationToken ?? "");
    if (number === undefined) return;
    this.#awaited.delete(header.correlationToken!);
    this.#conversation.receivedLater(number, header.name, message, this.#settled(message, number));
  }

  #nameOf(endpointId: string): string {
    return this.#customer.endpoints.get(endpointId)?.friendlyName ?? endpointId;
  }
}
