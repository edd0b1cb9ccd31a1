import type { LinkedAccount } from "../account-linking/linked-account.ts";
import type { KnownDevice, SimulatedAssistant } from "../assistants/assistant.ts";
import { Conversation, type Settled } from "../assistants/conversation.ts";
import { exampleSentences, type Speakable } from "../assistants/example-sentences.ts";
import { type Fulfil, intentRequest, refusalOf } from "./fulfilment.ts";
import type { HomeGraph } from "./home-graph.ts";
import type { LinkedUser, ReceivedCall } from "./home-graph-answers.ts";
import { type Execution, hasTrait, intentsFor, type PlannedIntent, type SyncedDevice, showsEffect } from "./wishes.ts";
import { abilities, callWords, type DeviceState, errorWords, kindWord, stateWords } from "./words.ts";

export interface GoogleParts {
  readonly graph: HomeGraph;
  readonly account: LinkedAccount;
  readonly fulfil: Fulfil;
}

/** Google's assistant with the account of one person. */
export class SimulatedGoogle implements SimulatedAssistant {
  readonly title = "Google Home";
  readonly #graph: HomeGraph;
  readonly #account: LinkedAccount;
  readonly #fulfil: Fulfil;
  readonly #conversation = new Conversation();
  readonly #reportedMs = new Map<string, number>();
  /** Requests in progress, by the ids of their devices. */
  readonly #awaited = new Map<string, { readonly number: number; readonly execution: Execution }>();
  #user: LinkedUser | undefined;

  constructor({ graph, account, fulfil }: GoogleParts) {
    this.#graph = graph;
    this.#account = account;
    this.#fulfil = fulfil;
    graph.onCall = (call) => this.#hear(call);
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
    await this.#conversation.speak("(The person links the account)", async (number) => {
      await this.#account.link();
      return this.#sync(number);
    });
  }

  discover(): Promise<void> {
    return this.#conversation.speak("Sync my devices", (number) => this.#sync(number));
  }

  say(sentence: string): Promise<void> {
    return this.#conversation.say(
      sentence,
      (wish) => intentsFor(wish, this.#synced()).map((intent) => ({ intent, name: intent.device.name.name })),
      ({ intent }, number) => this.#send(intent, number),
    );
  }

  devices(): readonly KnownDevice[] {
    return this.#synced().map((device) => {
      const state = this.#user?.states.get(device.id);
      const isOnline = state?.online === true;
      return {
        id: device.id,
        name: device.name.name,
        kind: kindWord(device),
        room: device.roomHint,
        abilities: abilities(device),
        state: state && (isOnline ? stateWords(state) : "no value"),
        isReachable: isOnline,
        reportedMs: this.#reportedMs.get(device.id),
      };
    });
  }

  examples(): readonly string[] {
    return exampleSentences(this.#synced().map((device) => this.#speakable(device)));
  }

  #synced(): readonly SyncedDevice[] {
    return [...(this.#user?.devices.values() ?? [])] as readonly SyncedDevice[];
  }

  #speakable(device: SyncedDevice): Speakable {
    const state: DeviceState = this.#user?.states.get(device.id) ?? {};
    const isFan = device.type.endsWith(".FAN");
    const canSwitch = hasTrait(device, "OnOff") && device.attributes.queryOnlyOnOff !== true;
    return {
      name: device.name.name,
      ...(canSwitch && { switches: { isOn: state.on === true, isFan } }),
      ...(hasTrait(device, "TemperatureSetting") && { thermostat: { mode: String(state.thermostatMode) } }),
      isDimmable: hasTrait(device, "Brightness"),
      measuresTemperature: hasTrait(device, "TemperatureSetting") || hasTrait(device, "TemperatureControl"),
    };
  }

  /** Sends an intent; returns the payload of the answer. */
  async #intent(number: number, name: string, payload?: object) {
    const request = intentRequest(name, payload);
    this.#conversation.sent(number, name, request);
    const answer = await this.#fulfil(request, await this.#account.accessToken());
    this.#conversation.received(number, `${name} answer`, answer.body ?? { status: answer.status });
    const refusal = refusalOf(answer);
    if (refusal) throw refusal;
    return answer.body.payload;
  }

  async #sync(number: number): Promise<Settled> {
    const { agentUserId, devices } = await this.#intent(number, "SYNC");
    const user = this.#graph.users.get(agentUserId) ?? this.#graph.link(agentUserId);
    user.devices = new Map(devices.map((device: SyncedDevice) => [device.id, device]));
    for (const known of [user.states, this.#reportedMs, this.#awaited]) {
      for (const id of known.keys()) if (!user.devices.has(id)) known.delete(id);
    }
    user.onSyncRequested = () => {
      void this.#conversation.run("(Google was asked to sync)", (next) => this.#sync(next));
    };
    this.#user = user;
    return { outcome: "done", words: `I found ${user.devices.size} devices.` };
  }

  async #send({ device, execution }: PlannedIntent, number: number): Promise<Settled> {
    const { id } = device;
    const name = device.name.name;
    if (!execution) {
      const { devices } = await this.#intent(number, "QUERY", { devices: [{ id }] });
      return stateAnswer(name, devices[id] ?? {});
    }
    const payload = { commands: [{ devices: [{ id }], execution: [execution] }] };
    const { commands } = await this.#intent(number, "EXECUTE", payload);
    const [{ status, states, errorCode }] = commands;
    if (status === "PENDING") {
      this.#awaited.set(id, { number, execution });
      return {
        outcome: "inProgress",
        words: `${name}: in progress. A state that is reported later shows the outcome.`,
      };
    }
    if (status === "SUCCESS") return stateAnswer(name, states ?? {});
    return { outcome: "refused", words: `${name}: ${errorWords(String(errorCode))}` };
  }

  #hear(call: ReceivedCall): void {
    const { method, body, status } = call;
    if (method === "token") return;
    const isTaken = status === 200;
    const words = callWords(call, (id) => this.#nameOf(id));
    const refusal = isTaken ? {} : { refusal: `Google answered ${status}` };
    this.#conversation.reported({ name: method, message: body, words, ...refusal });
    if (!isTaken || method !== "reportStateAndNotification") return;
    const states: Readonly<Record<string, DeviceState>> = body?.payload?.devices?.states ?? {};
    for (const [id, state] of Object.entries(states)) {
      this.#reportedMs.set(id, Date.now());
      const awaited = this.#awaited.get(id);
      // Google is not told that a command failed: until a state shows its effect, it is in progress.
      if (!awaited || !showsEffect(awaited.execution, state)) continue;
      this.#awaited.delete(id);
      this.#conversation.receivedLater(awaited.number, method, body, stateAnswer(this.#nameOf(id), state));
    }
  }

  #nameOf(id: string): string {
    return this.#synced().find((device) => device.id === id)?.name.name ?? id;
  }
}

function stateAnswer(name: string, state: DeviceState): Settled {
  if (state.online === true) return { outcome: "done", words: `${name}: ${stateWords(state)}.` };
  const reason = typeof state.errorCode === "string" ? errorWords(state.errorCode) : "The device is offline.";
  return { outcome: "unknown", words: `${name}: ${reason}` };
}
