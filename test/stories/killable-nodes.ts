import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Balancer, startBalancer } from "../set-up/balancer.ts";
import type { Deployment } from "../set-up/deployment.ts";
import { freePort } from "../set-up/free-port.ts";
import { seededRandom } from "../set-up/seeded-random.ts";
import { type ChildOptions, type ChildService, startChild } from "./child-service.ts";

/** The options of one start. */
export interface StartOptions extends ChildOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

/** A service in child processes that the test kills: one process, or three nodes behind a balancer. */
export interface KillableNodes {
  /** The current address; with three nodes that of the balancer, which never changes. */
  readonly baseUrl: string;
  /** Starts missing processes. While other nodes run, it does not wait: they answer in the meantime. */
  start(options?: StartOptions): Promise<void>;
  /** Kills a process, one of three at random; resolves when it has ended. */
  kill(): Promise<void>;
  /** Resolves when a process has been killed, by the test or by itself. */
  killed(): Promise<void>;
  /** Ends all processes with SIGTERM. */
  stop(): Promise<void>;
}

export async function killableNodes(
  test: TestContext,
  deployment: Deployment,
  environment: Readonly<Record<string, string>>,
): Promise<KillableNodes> {
  const nodes =
    deployment === "three nodes" ? await ThreeNodes.behindBalancer(test, environment) : new SingleNode(environment);
  test.after(() => nodes.end());
  return nodes;
}

class SingleNode implements KillableNodes {
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildService | undefined;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  get baseUrl(): string {
    return this.#child?.baseUrl ?? "";
  }

  async start(options: StartOptions = {}): Promise<void> {
    // The port of the last start, so that connected clients find the service again.
    const port = this.#child && { BREEZEWAY_PORT: new URL(this.#child.baseUrl).port };
    this.#child = await startChild("serve", { ...this.#environment, ...options.environment, ...port }, options);
  }

  async kill(): Promise<void> {
    this.#child!.process.kill("SIGKILL");
    await this.killed();
  }

  async killed(): Promise<void> {
    assert.equal(await this.#child!.ended, "SIGKILL");
  }

  async stop(): Promise<void> {
    this.#child!.process.kill("SIGTERM");
    await this.#child!.ended;
  }

  async end(): Promise<void> {
    this.#child?.process.kill("SIGKILL");
    await this.#child?.ended;
  }
}

class ThreeNodes implements KillableNodes {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #random: () => number;
  readonly #balancer: Balancer;
  readonly #children = new Map<number, ChildService>();
  #starting: Promise<unknown> = Promise.resolve();
  #killed = Promise.withResolvers<void>();

  private constructor(environment: Readonly<Record<string, string>>, random: () => number, balancer: Balancer) {
    this.#environment = { ...environment, BREEZEWAY_BASE_URL: balancer.url };
    this.#random = random;
    this.#balancer = balancer;
  }

  static async behindBalancer(test: TestContext, environment: Readonly<Record<string, string>>): Promise<ThreeNodes> {
    const random = seededRandom(test);
    return new ThreeNodes(environment, random, await startBalancer(random));
  }

  get baseUrl(): string {
    return this.#balancer.url;
  }

  async start(options: StartOptions = {}): Promise<void> {
    await this.#starting;
    this.#killed = Promise.withResolvers();
    const missing = Array.from({ length: 3 - this.#children.size }, () => this.#startOne(options));
    this.#starting = Promise.all(missing);
    if (this.#children.size === 0) await this.#starting;
    // An error is reported to the next caller that awaits this promise.
    else this.#starting.catch(() => undefined);
  }

  async kill(): Promise<void> {
    await this.#starting;
    const children = [...this.#children.values()];
    children[Math.floor(this.#random() * children.length)]!.process.kill("SIGKILL");
    await this.killed();
  }

  killed(): Promise<void> {
    return this.#killed.promise;
  }

  async stop(): Promise<void> {
    await this.#starting;
    const children = [...this.#children.values()];
    for (const { process } of children) process.kill("SIGTERM");
    for (const { ended } of children) assert.equal(await ended, 0);
  }

  async end(): Promise<void> {
    await this.#starting.catch(() => undefined);
    const children = [...this.#children.values()];
    for (const { process } of children) process.kill("SIGKILL");
    for (const { ended } of children) await ended;
    this.#balancer.stop();
  }

  async #startOne(options: StartOptions): Promise<void> {
    const port = await freePort();
    const environment = { ...this.#environment, ...options.environment, BREEZEWAY_PORT: String(port) };
    const child = await startChild("serve", environment, options);
    this.#children.set(port, child);
    this.#balancer.ports = [...this.#children.keys()];
    void child.ended.then((end) => {
      this.#children.delete(port);
      this.#balancer.ports = [...this.#children.keys()];
      if (end === "SIGKILL") this.#killed.resolve();
    });
  }
}
