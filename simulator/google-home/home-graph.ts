import { createVerify, generateKeyPairSync, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  bodyOf,
  type Fault,
  faulty,
  type HomeGraphMethod,
  type HttpAnswer,
  type LinkedUser,
  methodOf,
  pathOf,
  query,
  type ReceivedCall,
  refusal,
  report,
} from "./home-graph-answers.ts";

const tokenSeconds = 3_599;

/** The file of the variable collects every message that a cloud sends, so that they can be held against schemas. */
const collectedIn = process.env.GOOGLE_HOME_MESSAGES;

/** Google's Home Graph with the token endpoint of its service accounts. */
export class HomeGraph {
  readonly users = new Map<string, LinkedUser>();
  /** Oldest first. */
  readonly received: ReceivedCall[] = [];
  /** Called with each call that was received. */
  onCall: (call: ReceivedCall) => void = () => undefined;
  readonly #keptCalls: number;
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #tokens = new Set<string>();
  readonly #server: Server;
  readonly #silent = new Set<() => void>();
  #faults: { fault: Fault; left: number }[] = [];

  private constructor(keptCalls: number) {
    this.#keptCalls = keptCalls;
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

  /** `keptCalls`: how many calls and notifications are kept; older ones are forgotten. */
  static async start(port = 0, keptCalls = Number.POSITIVE_INFINITY): Promise<HomeGraph> {
    const graph = new HomeGraph(keptCalls);
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
    // A call that its sender has given up is not carried out.
    if (fault?.isDown || request.socket.destroyed) {
      this.#keep({ method, body, status: 0 });
      return "down";
    }
    const answer = fault?.status ? faulty(fault) : this.#handle(method, body, request);
    this.#keep({ method, body, status: answer.status });
    if (collectedIn && method !== "token") appendFileSync(collectedIn, `${JSON.stringify({ method, body })}\n`);
    return answer;
  }

  #keep(call: ReceivedCall): void {
    this.received.push(call);
    const { notifications = [] } = this.users.get(call.body?.agentUserId) ?? {};
    for (const list of [this.received, notifications]) while (list.length > this.#keptCalls) list.shift();
    this.onCall(call);
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
