import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import { Customer } from "../../../simulator/alexa/customer.ts";
import { readDirective } from "../../../src/assistants/alexa/directive.ts";
import { thingIdOf } from "../../../src/assistants/alexa/endpoint.ts";
import type { AlexaBody } from "../../../src/assistants/alexa/gateway.ts";
import { withScope } from "../../../src/assistants/alexa/messages.ts";
import { reportMessages } from "../../../src/assistants/alexa/reports.ts";
import type { DueReport } from "../../../src/assistants/assistant.ts";
import { googleMessages } from "../../../src/assistants/google-home/reports.ts";
import { commandPrefix, type States } from "../../../src/assistants/google-home/trait.ts";
import { checked } from "../alexa/checked.ts";
import { collect, type Json } from "../google-world.ts";
import { assertComplete, assertRepeated, assertRetrieved, propertiesIn } from "./alexa-checks.ts";
import type { AskedDirective, AskedIntent, Target } from "./any-ask.ts";
import { assertExecuted, assertListed, assertQueried } from "./google-checks.ts";
import { googleOutlet, type MadeHome } from "./made-home.ts";

const mostEndpoints = 300;

/** Alexa with an enabled skill: it learns from answers and reports, and each of them is checked. */
export class AlexaOfHome {
  readonly customer = new Customer("ada", "na");
  readonly #home: MadeHome;
  /** When the value of a property was sampled that Alexa was told last. */
  readonly #sampled = new Map<string, string>();

  constructor(home: MadeHome) {
    this.#home = home;
  }

  async ask(asked: AskedDirective): Promise<AlexaMessage> {
    const endpointId = chosen(asked.to, [...this.customer.endpoints.keys()]);
    const [namespace, name] = asked.name.split(" ");
    const { instance, correlationToken, version: payloadVersion, payload } = asked;
    const scope = { type: "BearerToken", token: asked.token };
    const body = {
      directive: {
        header: { namespace, name, instance, payloadVersion, correlationToken, messageId: "in" },
        endpoint: { endpointId, scope, cookie: {} },
        payload,
      },
    };
    const answer = checked(await this.#home.alexa.answer(readDirective(body)!, "us-east-1")) as unknown as AlexaMessage;
    assertRepeated(answer, asked, endpointId);
    const known = new Set(this.customer.endpoints.keys());
    this.#learn(answer);
    // Alexa asks for the states of endpoints that it has discovered anew.
    const found = [...this.customer.endpoints.keys()].filter((id) => !known.has(id));
    if (answer.event.header.name === "Discover.Response") for (const id of found) await this.#askState(id);
    return answer;
  }

  discover(): Promise<AlexaMessage> {
    return this.ask({ ...ours, name: "Alexa.Discovery Discover", to: "t_none", correlationToken: undefined });
  }

  async #askState(endpointId: string): Promise<AlexaMessage> {
    const answer = await this.ask({ ...ours, name: "Alexa ReportState", to: endpointId, correlationToken: "c" });
    assertRetrieved(answer, this.customer.endpoints.get(endpointId)!);
    return answer;
  }

  report(due: DueReport): void {
    const { nowMs, newMessageId } = this.#home;
    for (const { body } of reportMessages(due, { alarms: "contact", nowMs, newMessageId })) {
      for (const event of (body as AlexaBody).events) {
        const told = checked(withScope(event, "token")) as unknown as AlexaMessage;
        if (told.event.header.name === "ChangeReport") this.#assertNewer(told);
        this.#learn(told);
      }
    }
  }

  /** What Alexa was told last is what it is told when it asks. */
  async assertInformed(): Promise<void> {
    for (const endpointId of [...this.customer.endpoints.keys()]) {
      const known = new Map(this.customer.states.get(endpointId));
      const answer = await this.#askState(endpointId);
      const { header, payload } = answer.event;
      const isRefused = header.name === "ErrorResponse" && payload.type === "ENDPOINT_UNREACHABLE";
      assert.ok(header.name === "StateReport" || isRefused, JSON.stringify(payload));
      for (const { namespace, name, value } of propertiesIn(answer)) {
        assert.deepEqual(known.get(`${namespace}.${name}`), value, `${endpointId} ${namespace}.${name}`);
      }
    }
  }

  #learn(message: AlexaMessage): void {
    const { header, endpoint, payload } = message.event;
    if (header.name === "Discover.Response") {
      const ids = (payload.endpoints as readonly { readonly endpointId: string }[]).map((one) => one.endpointId);
      assert.deepEqual(ids, [...new Set(ids)], "no endpoint is discovered twice");
      assert.ok(ids.length <= mostEndpoints);
    }
    this.customer.learn(message);
    const known = endpoint && this.customer.endpoints.get(endpoint.endpointId);
    const properties = propertiesIn(message);
    if (!known || properties.length === 0) return;
    assertComplete(properties, known, this.#home.things.get(thingIdOf(endpoint.endpointId))!);
  }

  #assertNewer(message: AlexaMessage): void {
    for (const { namespace, name, timeOfSample } of propertiesIn(message)) {
      const key = `${message.event.endpoint?.endpointId} ${namespace} ${name}`;
      assert.ok(timeOfSample >= (this.#sampled.get(key) ?? ""), `${key} is not older than what was told before`);
      this.#sampled.set(key, timeOfSample);
    }
  }
}

const ours = { payload: {}, token: "good", version: "3" } as const;

/** Google with a linked account: the devices of the last SYNC, and their states as they were reported last. */
export class GoogleOfHome {
  readonly states = new Map<string, States>();
  devices: readonly string[] = [];
  readonly #home: MadeHome;

  constructor(home: MadeHome) {
    this.#home = home;
  }

  async ask(asked: AskedIntent): Promise<void> {
    switch (asked.intent) {
      case "SYNC":
        return this.sync();
      case "QUERY":
        await this.query(asked.to.map((to) => chosen(to, this.devices)));
        return;
      case "EXECUTE": {
        const executions = asked.groups.map(({ to, steps }) => ({
          deviceIds: [...new Set(to.map((one) => chosen(one, this.devices)))],
          steps: steps.map(({ command, params }) => ({
            command: `${commandPrefix}${command}`,
            params: params as States,
          })),
        }));
        const { google } = this.#home;
        const { commands } = (await google.execute(this.#asking(!asked.isReadOnly), executions)) as Json;
        collect("EXECUTE", { requestId: randomUUID(), payload: { commands } });
        assertExecuted(
          commands,
          executions.flatMap(({ deviceIds }) => deviceIds),
        );
      }
    }
  }

  async sync(): Promise<void> {
    const payload = (await this.#home.google.sync(this.#asking())) as Json;
    collect("SYNC", { requestId: randomUUID(), payload });
    assertListed(payload.devices);
    this.devices = payload.devices.map(({ id }: Json) => id);
    for (const id of this.devices)
      assert.ok(!this.#home.things.get(id.slice(0, 24))!.isGoogles, "not what is Google's");
  }

  async query(ids: readonly string[]): Promise<Json> {
    const asked = [...new Set(ids)];
    const { devices } = (await this.#home.google.query(this.#asking(), asked)) as Json;
    collect("QUERY", { requestId: randomUUID(), payload: { devices } });
    assert.deepEqual(Object.keys(devices).toSorted(), asked.toSorted());
    for (const entry of Object.values(devices)) assertQueried(entry);
    return devices;
  }

  /** Reports; when Google is asked to, it reads the list of devices, and then hears all states. */
  async report(due: DueReport): Promise<void> {
    let isListAsked = false;
    for (const { type, body } of googleMessages(due, randomUUID)) {
      collect(type, body);
      if (type === "requestSync") isListAsked = true;
      else this.#hear(body as Json);
    }
    if (!isListAsked) return;
    await this.sync();
    const things = due.things.map((one) => ({ ...one, wantsSync: false, rises: [] }));
    for (const { type, body } of googleMessages({ ...due, things }, randomUUID)) {
      collect(type, body);
      this.#hear(body as Json);
    }
  }

  /** What Google was told last is what it is told when it asks. */
  async assertInformed(): Promise<void> {
    for (const [id, { status: _, errorCode: __, ...states }] of Object.entries<Json>(await this.query(this.devices))) {
      assert.deepEqual(this.states.get(id), states, id);
    }
  }

  #hear({ payload: { devices } }: Json): void {
    for (const [id, states] of Object.entries<States>(devices.states)) this.states.set(id, states);
  }

  #asking(mayControl = true) {
    return { caller: this.#home.caller(mayControl), outlet: googleOutlet };
  }
}

function chosen(to: Target, known: readonly string[]): string {
  return typeof to === "string" ? to : (known[to % Math.max(1, known.length)] ?? "t_none");
}
