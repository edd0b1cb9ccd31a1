import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { hostileEcosystem } from "./hostile-ecosystem.ts";
import { type RawAnswer, type RawFate, sendRaw } from "./raw-answers.ts";

/** How long an empty pull of the feed stays open. */
const pullMs = 20_000;
export const googleAccount = "hostile-google-account";
export const googleProject = "hostile-project";
export const googleSubscription = "projects/hostile/subscriptions/breezeway";

/**
 * The services of ecosystems, makers of assistants and an OpenID provider, on one address. They behave well until a path
 * gets a hostile answer.
 */
export class HostileCloud {
  readonly url: string;
  readonly #hostile = new Map<string, RawAnswer>();
  readonly #events = new EventEmitter();
  /** How often each path was requested. */
  readonly requests = new Map<string, number>();
  /** Answers of the feed that wait for a pull. */
  readonly pulls: object[] = [];
  acknowledged = 0;
  #issued = 0;
  idToken = "none";
  /** The devices of the account that this token belongs to. */
  listFor: (token: string) => readonly object[] = () => [thermostat("hall")];

  private constructor(url: string) {
    this.url = url;
    this.#events.setMaxListeners(0);
  }

  static async start(): Promise<HostileCloud> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    server.unref();
    const cloud = new HostileCloud(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on("request", (request, response) => {
      cloud.#answer(request, response).catch(() => response.destroy());
    });
    return cloud;
  }

  /** The next request of the path gets this answer. Resolves with its fate; undefined when no request came in time. */
  async answerOnce(path: string, answer: RawAnswer, limitMs: number): Promise<RawFate | undefined> {
    this.#hostile.set(path, answer);
    const ended = new AbortController();
    const fate = once(this.#events, `fate ${path}`, { signal: ended.signal }).then(
      ([one]) => one as RawFate | undefined,
    );
    const late = pause(limitMs, undefined, { signal: ended.signal });
    try {
      return await Promise.race([fate, late]);
    } finally {
      this.#hostile.delete(path);
      ended.abort();
      await Promise.allSettled([fate, late]);
    }
  }

  /** The hostile answer is not waited for any longer. */
  forget(path: string): void {
    if (this.#hostile.delete(path)) this.#events.emit(`fate ${path}`);
  }

  /** Resolves with true at the next request of the path, or with false when the time is up. */
  async requested(path: string, limitMs: number): Promise<boolean> {
    const ended = new AbortController();
    const request = once(this.#events, `request ${path}`, { signal: ended.signal }).then(() => true);
    const late = pause(limitMs, false, { signal: ended.signal });
    const came = await Promise.race([request, late]);
    ended.abort();
    await Promise.allSettled([request, late]);
    return came;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0]!;
    if (path.startsWith("/nest")) return hostileEcosystem.answer(request, response);
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    this.requests.set(path, (this.requests.get(path) ?? 0) + 1);
    this.#events.emit(`request ${path}`);
    const hostile = this.#hostile.get(path);
    if (hostile) {
      this.#hostile.delete(path);
      this.#events.emit(`fate ${path}`, await sendRaw(response.socket!, hostile));
      return;
    }
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const document = path.endsWith(":pull") ? await this.#pull(response) : this.#documentOf(path, body, token);
    if (response.destroyed) return;
    response.setHeader("userId", accountOf(token));
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  }

  async #pull(response: ServerResponse): Promise<object> {
    const untilMs = performance.now() + pullMs;
    while (this.pulls.length === 0 && performance.now() < untilMs && !response.destroyed) await pause(10);
    return (response.destroyed ? undefined : this.pulls.shift()) ?? {};
  }

  #documentOf(path: string, body: string, token: string): object {
    if (path.endsWith(":acknowledge")) this.acknowledged += (JSON.parse(body).ackIds ?? []).length;
    if (path.endsWith("/structures")) return { structures: [structure] };
    if (path.endsWith("/devices")) return { devices: this.listFor(token) };
    if (path === "/openid/.well-known/openid-configuration") return this.openIdMetadata;
    if (path === "/openid/token") return { access_token: "hostile", token_type: "Bearer", id_token: this.idToken };
    if (path.endsWith("token")) {
      this.#issued += 1;
      return { ...issuedTokens, access_token: `hostile-${this.#issued}` };
    }
    return {};
  }

  get openIdMetadata(): object {
    const at = `${this.url}/openid`;
    return {
      issuer: at,
      authorization_endpoint: `${at}/authorize`,
      token_endpoint: `${at}/token`,
      userinfo_endpoint: `${at}/userinfo`,
      jwks_uri: `${at}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
  }
}

const issuedTokens = {
  refresh_token: "hostile",
  token_type: "Bearer",
  expires_in: 3_600,
  scope: "https://www.googleapis.com/auth/sdm.service",
};

const structureName = `enterprises/${googleProject}/structures/home`;
const structure = {
  name: structureName,
  traits: { "sdm.structures.traits.Info": { customName: "Home" } },
};

/** A thermostat of the account. */
export function thermostat(id: string) {
  const traits = "sdm.devices.traits.";
  return {
    name: `enterprises/${googleProject}/devices/${id}`,
    type: "sdm.devices.types.THERMOSTAT",
    traits: {
      [`${traits}Info`]: { customName: `Thermostat ${id}` },
      [`${traits}Connectivity`]: { status: "ONLINE" },
      [`${traits}Temperature`]: { ambientTemperatureCelsius: 20 },
      [`${traits}ThermostatMode`]: { mode: "HEAT", availableModes: ["HEAT", "COOL", "OFF"] },
      [`${traits}ThermostatTemperatureSetpoint`]: { heatCelsius: 20 },
    },
    parentRelations: [{ parent: `${structureName}/rooms/hall`, displayName: "Hall" }],
  };
}

/** Tokens such as `many-7` belong to accounts of their own, all others to one account. */
export function accountOf(token: string): string {
  return /^many-\d+$/.test(token) ? `account-${token}` : googleAccount;
}

/** A message of the feed about an account. */
export function feedMessage(content: object, id = String(Math.random()), userId = googleAccount): object {
  const event = { eventId: id, timestamp: new Date().toISOString(), userId, ...content };
  const data = Buffer.from(JSON.stringify(event)).toString("base64");
  return { ackId: `ack ${id}`, message: { messageId: id, data } };
}

let running: Promise<HostileCloud> | undefined;

/** The instance of this process. */
export function hostileCloud(): Promise<HostileCloud> {
  running ??= HostileCloud.start();
  return running;
}
