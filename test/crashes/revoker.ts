import { setTimeout as pause } from "node:timers/promises";
import { addGrant, type GrantedClient } from "../../bench/granted-client.ts";
import type { Fleet } from "../nodes/fleet.ts";
import { type LampOwner, retryPauseMs } from "./lamp-owner.ts";

/** How long another node may still accept a revoked token. */
const acceptedMs = 1_000;

/** Gets tokens, uses them, revokes them, and tries revoked tokens again at any node. */
export class Revoker {
  readonly revoked: { readonly token: string; readonly atMs: number }[] = [];
  /** Revoked tokens that were accepted again. */
  readonly violations: string[] = [];
  readonly #fleet: Fleet;
  readonly #client: GrantedClient;
  readonly #owner: LampOwner;
  readonly #anyNode: () => string;
  readonly #random: () => number;
  #isStopped = true;
  #running: Promise<void> = Promise.resolve();

  constructor(
    fleet: Fleet,
    client: GrantedClient,
    owner: LampOwner,
    { anyNode, random }: { readonly anyNode: () => string; readonly random: () => number },
  ) {
    this.#fleet = fleet;
    this.#client = client;
    this.#owner = owner;
    this.#anyNode = anyNode;
    this.#random = random;
  }

  start(): void {
    this.#isStopped = false;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** A valid token; undefined while the database cannot be written. */
  async issue(): Promise<string | undefined> {
    const { store } = this.#fleet.parts;
    const grant = store.transaction((tx) => addGrant(tx, this.#client, this.#owner.userId));
    return (await grant.catch(() => undefined))?.accessToken;
  }

  /** Whether the revocation was acknowledged. */
  async revoke(token: string): Promise<boolean> {
    const body = new URLSearchParams({ token, ...this.#client.credentials });
    const sent = fetch(`${this.#anyNode()}/oauth2/revoke_token`, { method: "POST", body });
    const answer = await sent.catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) this.revoked.push({ token, atMs: performance.now() });
    return answer?.status === 200;
  }

  async statusOf(token: string, nodeUrl = this.#anyNode()): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${nodeUrl}/v3/devices/${this.#owner.lamp}`, { headers }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status ?? 0;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const token = await this.issue();
      if (token) {
        // Use the token at every node, so that every node has it in its cache.
        await Promise.all(this.#fleet.nodes.map(({ service }) => this.statusOf(token, service.baseUrl)));
        await this.revoke(token);
      }
      const old = this.revoked[Math.floor(this.#random() * this.revoked.length)];
      if (old && performance.now() - old.atMs > acceptedMs && (await this.statusOf(old.token)) === 200) {
        this.violations.push(`a token that was revoked ${Math.round(performance.now() - old.atMs)} ms ago was good`);
      }
      await pause(token ? 5 * retryPauseMs : retryPauseMs);
    }
  }
}
