import { randomUUID } from "node:crypto";
import type { AlexaMessage } from "./alexa-message.ts";
import type { Customer } from "./customer.ts";
import type { LoginWithAmazon } from "./login-with-amazon.ts";

/** What the skill's Lambda function does: it gets a directive and returns the event. */
export type Lambda = (message: object) => Promise<AlexaMessage>;

/** Alexa with an enabled skill of one customer: it sends directives and learns from the answers. */
export class Skill {
  readonly #customer: Customer;
  readonly #lambda: Lambda;
  readonly #accessToken: () => Promise<string>;

  /** `accessToken`: from account linking; a function renews it. */
  constructor(customer: Customer, accessToken: string | (() => Promise<string>), lambda: Lambda) {
    this.#customer = customer;
    this.#accessToken = typeof accessToken === "string" ? async () => accessToken : accessToken;
    this.#lambda = lambda;
  }

  /** The grant that Alexa gives when the customer enables the skill. */
  async acceptGrant(login: LoginWithAmazon): Promise<AlexaMessage> {
    const grant = { type: "OAuth2.AuthorizationCode", code: login.issueCode(this.#customer) };
    return this.#send("Alexa.Authorization AcceptGrant", { grant, grantee: await this.#scope() });
  }

  async discover(): Promise<AlexaMessage> {
    return this.#send("Alexa.Discovery Discover", { scope: await this.#scope() });
  }

  reportState(endpointId: string): Promise<AlexaMessage> {
    return this.directive("Alexa ReportState", endpointId);
  }

  /** `name`: the interface and the directive, such as `Alexa.PowerController TurnOn`. */
  async directive(name: string, endpointId: string, payload: object = {}, instance?: string): Promise<AlexaMessage> {
    return this.#send(name, payload, { endpointId, scope: await this.#scope(), cookie: {} }, instance);
  }

  async #scope(): Promise<object> {
    return { type: "BearerToken", token: await this.#accessToken() };
  }

  async #send(named: string, payload: object, endpoint?: object, instance?: string): Promise<AlexaMessage> {
    const [namespace, name] = named.split(" ");
    const header = {
      namespace,
      name,
      payloadVersion: "3",
      messageId: randomUUID(),
      ...(endpoint && { correlationToken: randomUUID() }),
      ...(instance !== undefined && { instance }),
    };
    const answer = await this.#lambda({ directive: { header, ...(endpoint && { endpoint }), payload } });
    this.#customer.learn(answer);
    return answer;
  }
}
