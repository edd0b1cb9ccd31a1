import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AlexaMessage, Property } from "../../simulator/alexa/alexa-message.ts";
import type { Customer } from "../../simulator/alexa/customer.ts";
import { type Amazon, startAmazon } from "../../simulator/alexa/simulator.ts";
import { Skill } from "../../simulator/alexa/skill.ts";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import type { LinkedUser } from "../../simulator/google-home/home-graph-answers.ts";
import type { AlexaEvent } from "../../src/assistants/alexa/messages.ts";
import { eventually } from "../stories/world.ts";
import { accountLinked, addOutlet as addSkill, type Credentials, lambdaFor } from "./alexa/alexa-world.ts";
import { checked } from "./alexa/checked.ts";
import { addOutlet, GoogleAccount, isReported, type Json, syncWith } from "./google-world.ts";

interface Administration {
  run(command: string, input: object): Promise<object>;
}

type Outlet = Credentials & { readonly outlet: string };

/** Google and Amazon, simulated, each with an outlet of the service and the account of one user. */
export class TwoAssistants {
  readonly graph: HomeGraph;
  readonly amazon: Amazon;
  readonly customer: Customer;
  readonly googleOutlet: Outlet;
  readonly skillOutlet: Outlet;
  readonly #t: TestContext;
  readonly #baseUrl: () => string;
  readonly #observed: Customer;
  #google: GoogleAccount | undefined;
  #user: LinkedUser | undefined;
  #skillToken = "";
  /** The access tokens of every account linking, by the outlet's client: each has a grant of its own. */
  readonly #tokens = new Map<string, string[]>();

  private constructor(
    t: TestContext,
    baseUrl: () => string,
    makers: { readonly graph: HomeGraph; readonly amazon: Amazon },
    outlets: { readonly google: Outlet; readonly skill: Outlet },
  ) {
    this.#t = t;
    this.#baseUrl = baseUrl;
    this.graph = makers.graph;
    this.amazon = makers.amazon;
    this.customer = this.amazon.addCustomer("ada");
    this.#observed = this.amazon.addCustomer("observer");
    this.googleOutlet = outlets.google;
    this.skillOutlet = outlets.skill;
  }

  static async start(
    t: TestContext,
    baseUrl: () => string,
    administer: (act: (administration: Administration) => Promise<void>) => Promise<void>,
  ): Promise<TwoAssistants> {
    const makers = { graph: await HomeGraph.start(), amazon: await startAmazon() };
    t.after(async () => {
      await makers.graph.stop();
      await makers.amazon.stop();
    });
    const outlets: { google?: Outlet; skill?: Outlet } = {};
    await administer(async (administration) => {
      outlets.google = await addOutlet(administration, makers.graph);
      outlets.skill = await addSkill(administration, makers.amazon);
    });
    return new TwoAssistants(t, baseUrl, makers, { google: outlets.google!, skill: outlets.skill! });
  }

  get google(): GoogleAccount {
    assert.ok(this.#google, "Google is not linked");
    return this.#google;
  }

  get user(): LinkedUser {
    assert.ok(this.#user, "Google is not linked");
    return this.#user;
  }

  get skill(): Skill {
    return new Skill(this.customer, this.#skillToken, lambdaFor(this.#baseUrl));
  }

  async linkGoogle(): Promise<void> {
    this.#google = await GoogleAccount.link(this.#baseUrl, this.googleOutlet);
    this.#keep(this.googleOutlet, this.#google.accessToken);
    this.#user = (await syncWith(this.google, this.graph, this.#t.signal)).user;
  }

  /** Account linking of the skill. The grant for messages comes after it. */
  async linkSkill(): Promise<void> {
    this.customer.isEnabled = true;
    this.#skillToken = await accountLinked(this.#baseUrl, this.skillOutlet);
    this.#keep(this.skillOutlet, this.#skillToken);
  }

  #keep({ client_id }: Outlet, token: string): void {
    this.#tokens.set(client_id, [...(this.#tokens.get(client_id) ?? []), token]);
  }

  /** The grant for messages, as often as Alexa's user tries until it succeeds, and the discovery. */
  async enableSkill(): Promise<void> {
    await eventually(this.#t.signal, async () => {
      const answer = await this.skill.acceptGrant(this.amazon.login);
      assert.equal(answer.event.header.name, "AcceptGrant.Response", JSON.stringify(answer));
    });
    await eventually(this.#t.signal, () => this.skill.discover());
  }

  googleIsTold(): Promise<void> {
    return isReported(this.google, this.user, this.#t.signal);
  }

  /** Alexa was told the present state of every endpoint. */
  alexaIsTold(): Promise<void> {
    // It learns nothing for the customer, so that only events can have told what is compared.
    const observer = new Skill(this.#observed, this.#skillToken, lambdaFor(this.#baseUrl));
    return eventually(this.#t.signal, async () => {
      for (const endpointId of this.customer.endpoints.keys()) {
        const known = new Map(this.customer.states.get(endpointId));
        const { context } = await observer.reportState(endpointId);
        assert.ok(context, `${endpointId} is not there`);
        for (const { namespace, name, value } of context.properties) {
          assert.deepEqual(known.get(`${namespace}.${name}`), value, `${endpointId} ${namespace}.${name}`);
        }
      }
    });
  }

  async bothAreTold(): Promise<void> {
    await this.googleIsTold();
    await this.alexaIsTold();
  }

  /** Every access that the user has given this outlet ends. */
  async revoke({ client_id, client_secret }: Outlet): Promise<void> {
    for (const token of this.#tokens.get(client_id) ?? []) {
      const answer = await fetch(`${this.#baseUrl()}/oauth2/revoke_token`, {
        method: "POST",
        body: new URLSearchParams({ token, client_id, client_secret }),
      });
      assert.equal(answer.status, 200);
    }
    this.#tokens.delete(client_id);
  }

  /** The reports that Google has taken, oldest first. */
  googleReports(): readonly Json[] {
    const calls = this.graph.callsOf("reportStateAndNotification");
    return calls.filter(({ status }) => status === 200).map(({ body }) => body);
  }

  /** No message to Alexa holds a value that is older than the one before it; `rising` only ever rises. */
  assertOrdered(rising: string): void {
    const newest = new Map<string, string>();
    for (const event of this.customer.events) {
      checked(event as unknown as AlexaEvent);
      for (const [name, { timeOfSample }] of sampled(event)) {
        const before = newest.get(name) ?? "";
        assert.ok(timeOfSample >= before, `${name} of ${timeOfSample} was told after that of ${before}`);
        newest.set(name, timeOfSample);
      }
    }
    const atAlexa = this.customer.events.flatMap((event) => targetIn(event, rising));
    const states = this.googleReports().flatMap(({ payload }) => payload.devices.states[rising] ?? []);
    const atGoogle = states.flatMap((state: Json) => state.thermostatTemperatureSetpoint ?? []);
    for (const [maker, told] of Object.entries({ alexa: atAlexa, google: atGoogle })) {
      assert.ok(told.length > 1, `${maker} was told nothing`);
      assert.deepEqual(
        told,
        told.toSorted((a: number, b: number) => a - b),
        `${maker} was told an older state`,
      );
    }
  }
}

function propertiesIn({ context, event }: AlexaMessage): readonly Property[] {
  const change = event.payload.change as { readonly properties: readonly Property[] } | undefined;
  return [...(context?.properties ?? []), ...(change?.properties ?? [])];
}

function sampled(event: AlexaMessage): readonly (readonly [name: string, property: Property])[] {
  const id = event.event.endpoint?.endpointId;
  return propertiesIn(event).map((one) => [`${id} ${one.namespace} ${one.instance} ${one.name}`, one]);
}

function targetIn(event: AlexaMessage, endpointId: string): readonly number[] {
  if (event.event.endpoint?.endpointId !== endpointId) return [];
  const targets = propertiesIn(event).filter(({ name }) => name === "targetSetpoint");
  return targets.map(({ value }) => (value as { readonly value: number }).value);
}
