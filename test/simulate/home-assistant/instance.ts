import type { Credential } from "../../../src/ecosystems/credential.ts";
import type { FormAnswer, PostForm } from "../../../src/ecosystems/home-assistant/form-post.ts";
import type { SessionParts } from "../../../src/ecosystems/home-assistant/session.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { InstanceEntities } from "./entities.ts";
import { SimulatedSocket } from "./socket.ts";

interface OpenSession {
  readonly socket: SimulatedSocket;
  grant: string | undefined;
  /** Subscriptions to states by their ids, and the entities that each names. */
  readonly states: Map<number, readonly string[]>;
  /** Subscriptions to changes of the registry. */
  readonly registry: number[];
}

interface Request {
  readonly id: number;
  readonly type: string;
  readonly access_token?: string;
  readonly event_type?: string;
  readonly entity_ids?: readonly string[];
  readonly subscription?: number;
  readonly target?: { readonly entity_id: string };
  readonly service_data?: { readonly hvac_mode?: string };
}

/** A Home Assistant instance: it restarts, floods its sessions, and refuses tokens. */
export class Instance {
  readonly entities: InstanceEntities;
  readonly address: string;
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #process: Process;
  readonly #sessions = new Set<OpenSession>();
  readonly #grants = new Set<string>();
  readonly #accesses = new Map<string, { readonly grant: string; readonly untilMs: number }>();
  readonly #lifetimeSeconds: number;
  #phase: "running" | "starting" | "down" = "running";
  #issued = 0;

  constructor(userId: number, scheduler: Scheduler, faults: Faults) {
    this.#scheduler = scheduler;
    this.#faults = faults;
    this.address = `https://home-${userId}.example`;
    this.#process = { name: `instance ${userId}`, isDead: false, isFrozen: false };
    this.entities = new InstanceEntities(scheduler.dice);
    this.#lifetimeSeconds = scheduler.dice.pick([15, 40, 1_800]);
  }

  consent(nowMs: number): Credential {
    const grant = `refresh-${++this.#issued}`;
    this.#grants.add(grant);
    const expiresMs = nowMs + this.#lifetimeSeconds * 1_000;
    const clientId = "https://breezeway.example";
    return { accessToken: this.#issue(grant), refreshToken: grant, expiresMs, clientId, address: this.address };
  }

  /** The owner deletes all consents: their sessions end. */
  withdraw(): void {
    this.#grants.clear();
    for (const session of this.#sessions) if (session.grant !== undefined) this.#drop(session);
  }

  /** A random change, which all sessions are told. */
  change(): void {
    if (this.#phase !== "running") return;
    const isFlood = this.#faults.strikes("instance floods", 0.02);
    for (let count = isFlood ? 150 : 1; count > 0; count--) this.#tell(this.entities.change());
    for (const session of this.#sessions) {
      if (this.#faults.strikes("instance connection dropped", 0.01)) this.#drop(session);
      else if (this.#faults.strikes("instance connection silent", 0.004)) session.socket.isSilent = true;
    }
  }

  settle(): void {
    for (const change of this.entities.settle()) this.#tell(change);
  }

  /** An alarm starts or stops. */
  sound(): void {
    this.#tell(this.entities.sound());
  }

  /** Everything is running, and nobody restarts any more. */
  repair(): void {
    if (this.#phase !== "running") this.#run();
  }

  /** Down for a moment; then it starts, and its integrations have not loaded their entities yet. */
  restart(): void {
    if (this.#phase !== "running") return;
    const { dice } = this.#scheduler;
    this.#phase = "down";
    for (const session of [...this.#sessions]) this.#drop(session);
    this.#later(dice.between(200, 4_000), "starts", () => {
      if (this.#phase !== "down") return;
      this.#phase = "starting";
      this.#later(dice.between(500, 9_000), "runs", () => {
        if (this.#phase === "starting") this.#run();
      });
    });
  }

  /** How a node opens a session with the instance. */
  openSocketFor(node: Process): SessionParts["openSocket"] {
    return (_, signal) =>
      new Promise((resolve) => {
        const noSocket = (detail: string) => resolve({ end: { reason: "unreachable", detail } });
        if (signal.aborted) return noSocket("no answer in time");
        signal.addEventListener("abort", () => noSocket("no answer in time"), { once: true });
        this.#scheduler.after(this.#scheduler.dice.between(1, 100), node, "connects to an instance", () => {
          if (signal.aborted) return;
          const isReached = this.#phase !== "down" && !this.#faults.strikes("instance unreachable", 0.05);
          if (!isReached) return noSocket("no connection");
          const session: OpenSession = {
            socket: new SimulatedSocket({
              scheduler: this.#scheduler,
              node,
              instance: this.#process,
              receive: (text) => this.#receive(session, JSON.parse(text) as Request),
              ended: () => this.#sessions.delete(session),
            }),
            grant: undefined,
            states: new Map(),
            registry: [],
          };
          this.#sessions.add(session);
          session.socket.push({ type: "auth_required" });
          resolve(session.socket as never);
        });
      });
  }

  /** How a node renews and revokes tokens. */
  postFor(node: Process): PostForm {
    return ({ path, form }, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
        const { dice } = this.#scheduler;
        this.#later(dice.between(1, 80), `gets ${path} of ${node.name}`, () => {
          const isLost = this.#phase === "down" || this.#faults.strikes("instance answer lost", 0.05);
          const answer = isLost ? undefined : this.#answer(path, form);
          this.#scheduler.after(dice.between(1, 80), node, `${path} answered`, () => resolve(answer));
        });
      });
  }

  #answer(path: string, { token = "", refresh_token: grant = "" }: Readonly<Record<string, string>>): FormAnswer {
    if (path === "/auth/revoke") {
      this.#grants.delete(token);
      for (const session of [...this.#sessions]) if (session.grant === token) this.#drop(session);
      return { status: 200, body: undefined };
    }
    if (!this.#grants.has(grant)) return { status: 400, body: { error: "invalid_grant" } };
    this.#faults.count("instance token renewed");
    return { status: 200, body: { access_token: this.#issue(grant), expires_in: this.#lifetimeSeconds } };
  }

  #receive(session: OpenSession, request: Request): void {
    const { id, type, entity_ids: entityIds = [], subscription = 0 } = request;
    const { socket } = session;
    if (type === "auth") this.#authenticate(session, request.access_token ?? "");
    else if (type === "ping") socket.push({ id, type: "pong" });
    else socket.push({ id, type: "result", success: true, result: this.#resultOf(type) });
    if (type === "call_service") this.#serve(request);
    if (type === "unsubscribe_events") session.states.delete(subscription);
    if (type === "subscribe_events" && request.event_type === "entity_registry_updated") session.registry.push(id);
    if (type !== "subscribe_entities") return;
    session.states.set(id, entityIds);
    socket.push({ id, type: "event", event: this.entities.listed(entityIds, this.#isStarting) });
  }

  /** Carries a command out. */
  #serve({ target, service_data: data }: Request): void {
    const change = this.entities.setMode(target?.entity_id ?? "", data?.hvac_mode ?? "");
    if (change) this.#tell(change);
  }

  /** The result of a call that reads; an empty list for all others. */
  #resultOf(type: string): unknown {
    const state = this.#isStarting ? "STARTING" : "RUNNING";
    if (type === "get_config") return { unit_system: { temperature: "°C" }, location_name: "House", state };
    if (type === "get_states") return this.entities.states(this.#isStarting);
    return type === "config/entity_registry/list" ? this.entities.registry() : [];
  }

  #authenticate(session: OpenSession, token: string): void {
    const access = this.#accesses.get(token);
    const isGood = access && this.#grants.has(access.grant) && this.#scheduler.nowMs < access.untilMs;
    if (!isGood) this.#faults.count("instance refused a token");
    if (isGood) session.grant = access.grant;
    session.socket.push({ type: isGood ? "auth_ok" : "auth_invalid" });
  }

  #tell({ event, isRegistry }: ReturnType<InstanceEntities["change"]>): void {
    for (const { socket, states, registry } of this.#sessions) {
      for (const id of isRegistry ? registry : []) socket.push({ id, type: "event", event: {} });
      for (const [id, entityIds] of states) {
        const known = this.entities.narrowed(event, entityIds);
        if (known) socket.push({ id, type: "event", event: known });
      }
    }
  }

  #run(): void {
    this.#phase = "running";
    this.#tell({ event: this.entities.recovered(), isRegistry: false });
  }

  #drop(session: OpenSession): void {
    this.#sessions.delete(session);
    session.socket.drop();
  }

  get #isStarting(): boolean {
    return this.#phase === "starting";
  }

  #issue(grant: string): string {
    const token = `ha-${++this.#issued}`;
    this.#accesses.set(token, { grant, untilMs: this.#scheduler.nowMs + this.#lifetimeSeconds * 1_000 });
    return token;
  }

  #later(delayMs: number, what: string, act: () => void): void {
    this.#scheduler.after(delayMs, this.#process, what, act);
  }
}
