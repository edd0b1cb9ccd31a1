import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Balancer, startBalancer } from "../set-up/balancer.ts";
import type { Deployment } from "../set-up/deployment.ts";
import { freePort } from "../set-up/free-port.ts";
import { seededRandom } from "../set-up/seeded-random.ts";
import { type ChildOptions, type ChildService, startChild } from "./child-service.ts";

/** How a process is run this time. */
export interface Life extends ChildOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

/** A service in processes of its own that are killed as the test likes: one, or three nodes behind a balancer. */
export interface KillableNodes {
  /** Where it is reached now; of three nodes always the same. */
  readonly baseUrl: string;
  /** Starts what doesn't run. While others live nobody waits for a node that comes back: they answer for it. */
  start(life?: Life): Promise<void>;
  /** Kills a process, of three any; resolves when it has ended. */
  kill(): Promise<void>;
  /** Resolves when a process has been killed, by whomever. */
  killed(): Promise<void>;
  /** Ends all processes, politely. */
  stop(): Promise<void>;
}

export async function killableNodes(
  test: TestContext,
  deployment: Deployment,
  environment: Readonly<Record<string, string>>,
): Promise<KillableNodes> {
  const nodes = deployment === "three nodes" ? await Three.behindBalancer(test, environment) : new One(environment);
  test.after(() => nodes.end());
  return nodes;
}

class One implements KillableNodes {
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildService | undefined;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  get baseUrl(): string {
    return this.#child?.baseUrl ?? "";
  }

  async start(life: Life = {}): Promise<void> {
    // Where it was before: whoever was connected comes back there.
    const port = this.#child && { BREEZEWAY_PORT: new URL(this.#child.baseUrl).port };
    this.#child = await startChild("serve", { ...this.#environment, ...life.environment, ...port }, life);
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

class Three implements KillableNodes {
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

  static async behindBalancer(test: TestContext, environment: Readonly<Record<string, string>>): Promise<Three> {
    const random = seededRandom(test);
    return new Three(environment, random, await startBalancer(random));
  }

  get baseUrl(): string {
    return this.#balancer.url;
  }

  async start(life: Life = {}): Promise<void> {
    await this.#starting;
    this.#killed = Promise.withResolvers();
    const missing = Array.from({ length: 3 - this.#children.size }, () => this.#startOne(life));
    this.#starting = Promise.all(missing);
    if (this.#children.size === 0) await this.#starting;
    // Whoever waits for it next hears what went wrong.
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

  async #startOne(life: Life): Promise<void> {
    const port = await freePort();
    const environment = { ...this.#environment, ...life.environment, BREEZEWAY_PORT: String(port) };
    const child = await startChild("serve", environment, life);
    this.#children.set(port, child);
    this.#balancer.ports = [...this.#children.keys()];
    void child.ended.then((end) => {
      this.#children.delete(port);
      this.#balancer.ports = [...this.#children.keys()];
      if (end === "SIGKILL") this.#killed.resolve();
    });
  }
}
