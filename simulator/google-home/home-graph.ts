import { createVerify, generateKeyPairSync, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A call that was received, whatever the answer was. */
export interface ReceivedCall {
  readonly method: HomeGraphMethod;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
  readonly status: number;
}

export type HomeGraphMethod = "token" | "reportStateAndNotification" | "requestSync" | "query" | "sync" | "delete";

/** What goes wrong with the next calls of a method. */
export interface Fault {
  /** All methods when left out. */
  readonly method?: HomeGraphMethod;
  /** Calls about this user are answered as ever. */
  readonly exceptUser?: string;
  /** How many calls; for ever when left out. */
  readonly times?: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** The connection is closed without an answer. */
  readonly isDown?: true;
  /** The answer waits until the fault is removed. */
  readonly isSilent?: true;
}

/** An account at Google that has linked a cloud: the devices that Google knows, and their states. */
export interface LinkedUser {
  readonly agentUserId: string;
  /** The devices of the last SYNC, by their ids. */
  devices: ReadonlyMap<string, object>;
  readonly states: Map<string, Readonly<Record<string, unknown>>>;
  readonly notifications: { readonly id: string; readonly notification: object }[];
  /** Called when the cloud asks for a SYNC. */
  onSyncRequested: () => void;
}

const largestBodyBytes = 1_048_576;
const tokenSeconds = 3_599;

/** The file of the variable collects every message that a cloud sends, so that they can be held against schemas. */
const collectedIn = process.env.GOOGLE_HOME_MESSAGES;

/** Google's Home Graph with the token endpoint of its service accounts. */
export class HomeGraph {
  readonly users = new Map<string, LinkedUser>();
  readonly received: ReceivedCall[] = [];
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #tokens = new Set<string>();
  readonly #server: Server;
  readonly #silent = new Set<() => void>();
  #faults: { fault: Fault; left: number }[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(
        (answer) => {
          if (answer === "down") return void request.socket.destroy();
          const headers = { "content-type": "application/json", ...answer.headers };
          response.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
        },
        () => request.socket.destroy(),
      );
    });
  }

  static async start(port = 0): Promise<HomeGraph> {
    const graph = new HomeGraph();
    await new Promise<void>((resolve) => graph.#server.listen(port, "127.0.0.1", resolve));
    return graph;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The key file of the service account, as Google's console creates it. */
  get serviceAccountFile(): string {
    return JSON.stringify({
      type: "service_account",
      project_id: "hearth-hollow",
      private_key_id: "1",
      private_key: this.#keys.privateKey.export({ type: "pkcs8", format: "pem" }),
      client_email: "reports@hearth-hollow.iam.gserviceaccount.example",
      token_uri: `${this.url}/token`,
    });
  }

  /** A user has linked a cloud. */
  link(agentUserId: string): LinkedUser {
    const user: LinkedUser = {
      agentUserId,
      devices: new Map(),
      states: new Map(),
      notifications: [],
      onSyncRequested: () => undefined,
    };
    this.users.set(agentUserId, user);
    return user;
  }

  /** Returns a function that ends the fault. */
  inject(fault: Fault): () => void {
    const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#faults.push(entry);
    return () => {
      this.#faults = this.#faults.filter((one) => one !== entry);
      for (const go of this.#silent) go();
      this.#silent.clear();
    };
  }

  /** All tokens end: the next call with one is answered 401. */
  endTokens(): void {
    this.#tokens.clear();
  }

  callsOf(method: HomeGraphMethod): readonly ReceivedCall[] {
    return this.received.filter((call) => call.method === method);
  }

  /** How many calls wait for the end of a fault. */
  get waiting(): number {
    return this.#silent.size;
  }

  async stop(): Promise<void> {
    for (const go of this.#silent) go();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<HttpAnswer | "down"> {
    const text = await bodyOf(request);
    const method = methodOf(request);
    if (!method) return refusal(404, "NOT_FOUND");
    const body =
      method === "token" ? Object.fromEntries(new URLSearchParams(text)) : text === "" ? {} : JSON.parse(text);
    const fault = this.#takeFault(method, body.agentUserId);
    if (fault?.isSilent) await new Promise<void>((resolve) => this.#silent.add(resolve));
    if (fault?.isDown) {
      this.received.push({ method, body, status: 0 });
      return "down";
    }
    const answer = fault?.status ? faulty(fault) : this.#handle(method, body, request);
    this.received.push({ method, body, status: answer.status });
    if (collectedIn && method !== "token") appendFileSync(collectedIn, `${JSON.stringify({ method, body })}\n`);
    return answer;
  }

  #takeFault(method: HomeGraphMethod, agentUserId: unknown): Fault | undefined {
    const isMet = ({ fault, left }: { readonly fault: Fault; readonly left: number }) =>
      left > 0 && (fault.method ?? method) === method && (!fault.exceptUser || fault.exceptUser !== agentUserId);
    const entry = this.#faults.find(isMet);
    if (entry) entry.left -= 1;
    return entry?.fault;
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as Google reads them, member by member
  #handle(method: HomeGraphMethod, body: any, request: IncomingMessage): HttpAnswer {
    if (method === "token") return this.#issue(body);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (!token || !this.#tokens.has(token)) return refusal(401, "UNAUTHENTICATED");
    if (method === "delete") {
      this.users.delete(decodeURIComponent(pathOf(request).split("/").at(-1) ?? ""));
      return { status: 200, body: {} };
    }
    const user = this.users.get(body.agentUserId);
    if (!user) return refusal(404, "NOT_FOUND");
    if (method === "requestSync") {
      if (body.async !== true) return refusal(400, "INVALID_ARGUMENT");
      queueMicrotask(() => user.onSyncRequested());
      return { status: 200, body: {} };
    }
    if (method === "query") return query(user, body);
    if (method === "sync") {
      const payload = { agentUserId: user.agentUserId, devices: [...user.devices.values()] };
      return { status: 200, body: { requestId: body.requestId, payload } };
    }
    return report(user, body);
  }

  #issue({ grant_type, assertion = "" }: Readonly<Record<string, string>>): HttpAnswer {
    const [header = "", claims = "", signature = ""] = assertion.split(".");
    const isSigned = createVerify("RSA-SHA256")
      .update(`${header}.${claims}`)
      .verify(this.#keys.publicKey, signature, "base64url");
    const claimed = isSigned ? JSON.parse(Buffer.from(claims, "base64url").toString()) : {};
    const isRight =
      grant_type === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      claimed.iss === "reports@hearth-hollow.iam.gserviceaccount.example" &&
      claimed.scope === "https://www.googleapis.com/auth/homegraph" &&
      claimed.aud === `${this.url}/token` &&
      claimed.exp - claimed.iat === 3_600;
    if (!isRight) return { status: 400, body: { error: "invalid_grant" } };
    const token = `ya29.${randomUUID()}`;
    this.#tokens.add(token);
    return { status: 200, body: { access_token: token, expires_in: tokenSeconds, token_type: "Bearer" } };
  }
}

interface HttpAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The states of the devices as they were reported last. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function query(user: LinkedUser, { requestId, inputs }: any): HttpAnswer {
  const ids: readonly string[] = inputs?.[0]?.payload?.devices?.map(({ id }: { readonly id: string }) => id) ?? [];
  if (ids.some((id) => !user.devices.has(id))) return refusal(404, "NOT_FOUND");
  const devices = Object.fromEntries(ids.map((id) => [id, user.states.get(id) ?? {}]));
  return { status: 200, body: { requestId, payload: { devices } } };
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function report(user: LinkedUser, { requestId, eventId, payload }: any): HttpAnswer {
  const { states = {}, notifications = {} } = payload?.devices ?? {};
  const ids = [...Object.keys(states), ...Object.keys(notifications)];
  if (typeof requestId !== "string" || ids.length === 0) return refusal(400, "INVALID_ARGUMENT");
  if (ids.some((id) => !user.devices.has(id))) return refusal(404, "NOT_FOUND");
  if (Object.keys(notifications).length > 0 && typeof eventId !== "string") return refusal(400, "INVALID_ARGUMENT");
  for (const [id, state] of Object.entries(states)) user.states.set(id, state as Record<string, unknown>);
  for (const [id, notification] of Object.entries(notifications)) {
    user.notifications.push({ id, notification: notification as object });
  }
  return { status: 200, body: { requestId } };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0]!;
}

function methodOf(request: IncomingMessage): HomeGraphMethod | undefined {
  const path = pathOf(request);
  if (request.method === "DELETE" && path.startsWith("/v1/agentUsers/")) return "delete";
  if (request.method !== "POST") return undefined;
  if (path === "/token") return "token";
  const name = /^\/v1\/devices:(\w+)$/.exec(path)?.[1];
  return (["reportStateAndNotification", "requestSync", "query", "sync"] as const).find((known) => known === name);
}

function refusal(status: number, name: string): HttpAnswer {
  return { status, body: { error: { code: status, message: "Request refused.", status: name } } };
}

function faulty({ status = 500, retryAfterSeconds }: Fault): HttpAnswer {
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...refusal(status, "FAULT"), headers };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > largestBodyBytes) throw new Error("too large");
  }
  return text;
}
