import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readStateFile, StateFile } from "../accounts/state-file.ts";
import { type Cancel, systemClock } from "../clock.ts";
import type { Connection } from "./connection.ts";
import { type Faults, noFaults } from "./faults.ts";
import { furnish } from "./house.ts";
import { answerHttp } from "./http.ts";
import { Instance, type TemperatureUnit } from "./instance.ts";
import { type KeptInstance, keptOf, restoreKept } from "./kept-state.ts";
import { type LifeOptions, startLife } from "./life.ts";
import { playScene } from "./scenes.ts";
import { acceptSockets } from "./sockets.ts";
import { type TokenOptions, Tokens } from "./tokens.ts";

export interface HomeAssistantOptions {
  /** A free one when left out. */
  readonly port?: number;
  readonly temperatureUnit?: TemperatureUnit;
  readonly locationName?: string;
  /** False: the instance begins without devices. */
  readonly isFurnished?: boolean;
  readonly tokens?: TokenOptions;
  /** File that keeps the instance and its tokens between two runs; nothing is kept when left out. */
  readonly stateFile?: string;
}

/** A simulated Home Assistant instance on loopback: its WebSocket interface, its login page and the token endpoints. */
export interface HomeAssistant {
  readonly url: string;
  readonly port: number;
  readonly instance: Instance;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly connections: ReadonlySet<Connection>;
  /** A person deletes a token on the profile page: its connections end. */
  deleteToken(token: string): void;
  /** Ends the fault `holdsEvents`: all connections get the events that were held back. */
  releaseEvents(): void;
  /** The instance ends all connections. */
  hangUp(): void;
  /** The instance restarts: connections break. It is NOT_RUNNING, and no entity has a state, until `restoreStates`. */
  restart(): void;
  /** The instance is STARTING: registered entities have a state again, as unavailable, until `finishStart`. */
  restoreStates(): void;
  /** Integrations are loaded: the entities have their states again, and the instance is RUNNING. */
  finishStart(): void;
  /** Updates one entity this often at once. */
  flood(entityId: string, count: number): void;
  /** When a scene was last played; infinity if it was not. */
  playedMs(name: string): number;
  /** Plays a scene as a person would. The simulated life pauses. Throws a refusal for an unknown scene. */
  playScene(name: string): void;
  /** Starts a simulated everyday life; the returned function ends it. */
  startLife(options: LifeOptions): Cancel;
  /** Pauses the everyday life, so that it does not disturb what a person does. */
  pauseLife(): void;
  /** Writes the state file now. */
  save(): void;
  stop(): Promise<void>;
}

/** How long the instance takes to start again after the scene `restart`. */
const startMs = 5_000;

export async function startHomeAssistant(options: HomeAssistantOptions = {}): Promise<HomeAssistant> {
  const instance = new Instance(options.temperatureUnit ?? "°C");
  const tokens = new Tokens(options.tokens);
  const faults = noFaults();
  const kept = options.stateFile === undefined ? undefined : readStateFile<KeptInstance>(options.stateFile);
  if (kept) restoreKept(instance, tokens, kept);
  else if (options.isFurnished ?? true) furnish(instance);
  if (!kept && options.locationName !== undefined) instance.locationName = options.locationName;
  const file = options.stateFile === undefined ? undefined : keptIn(options.stateFile, instance, tokens);
  let before = new Map(instance.states);
  let starting: Cancel = () => undefined;
  const lives: Cancel[] = [];
  const played = new Map<string, number>();

  const simulator = {
    instance,
    tokens,
    faults,
    deleteToken(token: string) {
      const ended = tokens.delete(token);
      sockets.end((connection) => connection.token !== undefined && ended.includes(connection.token), "close");
      file?.save();
    },
    releaseEvents() {
      faults.holdsEvents = false;
      for (const connection of sockets.connections) connection.release();
    },
    hangUp: () => sockets.end(() => true, "close"),
    restart() {
      sockets.end(() => true, "destroy");
      instance.runState = "NOT_RUNNING";
      before = new Map([...instance.states, ...instance.lost]);
      instance.lost.clear();
      instance.states.clear();
    },
    restoreStates() {
      instance.runState = "STARTING";
      for (const [entityId, { attributes }] of before) {
        if (instance.entities.has(entityId)) instance.restore(entityId, attributes);
      }
    },
    finishStart() {
      for (const [entityId, { state, attributes }] of before) instance.set(entityId, state, attributes);
      instance.runState = "RUNNING";
    },
    flood(entityId: string, count: number) {
      for (let i = 0; i < count; i++) instance.change(entityId, undefined, { flood: i });
    },
    playScene(name: string) {
      simulator.pauseLife();
      playScene({ instance, restartSoon, deleteTokens }, name);
      played.set(name, Date.now());
      file?.save();
    },
    playedMs: (name: string) => played.get(name) ?? Number.POSITIVE_INFINITY,
    startLife(life: LifeOptions) {
      const cancel = startLife(instance, systemClock, life);
      lives.push(cancel);
      return cancel;
    },
    pauseLife() {
      instance.touchedMs = Date.now();
    },
    save: () => file?.write(),
  };
  const restartSoon = () => {
    if (instance.runState !== "RUNNING") return;
    simulator.restart();
    simulator.restoreStates();
    starting = systemClock.after(startMs, () => simulator.finishStart());
  };
  const deleteTokens = () => {
    for (const token of tokens.all) simulator.deleteToken(token);
  };

  const server = createServer((request, response) => answerHttp(request, response, simulator));
  const sockets = acceptSockets(server, simulator);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...simulator,
    url: `http://127.0.0.1:${port}`,
    port,
    connections: sockets.connections,
    async stop() {
      starting();
      for (const cancel of lives) cancel();
      if (instance.runState !== "RUNNING") simulator.finishStart();
      file?.write();
      sockets.end(() => true, "destroy");
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes each change into the state file: at once if it is a token, else within half a second. */
function keptIn(path: string, instance: Instance, tokens: Tokens): StateFile<KeptInstance> {
  const source = {
    get kept() {
      return keptOf(instance, tokens);
    },
    get urgentCount() {
      return tokens.count;
    },
  };
  const file = new StateFile<KeptInstance>(path, source, systemClock);
  // While the instance starts, its states are not those of the house.
  const save = () => {
    if (instance.runState === "RUNNING") file.save();
  };
  instance.listeners.add({ stateChanged: save, registryUpdated: save, configUpdated: save });
  return file;
}
