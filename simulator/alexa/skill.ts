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
  /** The access token from account linking. */
  readonly #accessToken: string;

  constructor(customer: Customer, accessToken: string, lambda: Lambda) {
    this.#customer = customer;
    this.#accessToken = accessToken;
    this.#lambda = lambda;
  }

  /** The grant that Alexa gives when the customer enables the skill. */
  acceptGrant(login: LoginWithAmazon): Promise<AlexaMessage> {
    const grant = { type: "OAuth2.AuthorizationCode", code: login.issueCode(this.#customer) };
    return this.#send("Alexa.Authorization AcceptGrant", { grant, grantee: this.#scope });
  }

  discover(): Promise<AlexaMessage> {
    return this.#send("Alexa.Discovery Discover", { scope: this.#scope });
  }

  reportState(endpointId: string): Promise<AlexaMessage> {
    return this.directive("Alexa ReportState", endpointId);
  }

  /** `name`: the interface and the directive, such as `Alexa.PowerController TurnOn`. */
  directive(name: string, endpointId: string, payload: object = {}, instance?: string): Promise<AlexaMessage> {
    return this.#send(name, payload, { endpointId, scope: this.#scope, cookie: {} }, instance);
  }

  get #scope(): object {
    return { type: "BearerToken", token: this.#accessToken };
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
