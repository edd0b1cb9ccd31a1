import type { Credential, RenewalOutcome } from "../../../src/ecosystems/credential.ts";
import { grantOf, refreshTokenFor, type Tokens, userOf } from "../actors/tokens.ts";
import type { RenewalCall, RenewalRefusal } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";

export interface RenewalEndpointParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly tokens: Tokens;
  readonly process: Process;
  readonly committedSoFar: () => number;
  readonly delayMs: () => number;
  /** Called after the tokens of a grant have changed. */
  readonly changed: () => void;
  /** Called when the ecosystem has refused to renew: the user must consent anew. */
  readonly refused: (userId: number) => void;
}

/** A node that renews. */
export interface RenewingNode extends Process {
  /** The shared time, by which a credential says when it expires. */
  nowMs(): number;
}

interface OpenCall {
  readonly node: Process;
  readonly call: RenewalCall;
  isCarriedOut: boolean;
}

/** The node gives up a call after this time, and so does the ecosystem when the node has died in it. */
const longestMs = 30_000;

/** Where nodes renew credentials. It may be down, slow, answer garbage, refuse, or lose its answer. */
export class RenewalEndpoint {
  readonly calls: RenewalCall[] = [];
  readonly refusals: RenewalRefusal[] = [];
  readonly #parts: RenewalEndpointParts;
  readonly #open = new Set<OpenCall>();

  constructor(parts: RenewalEndpointParts) {
    this.#parts = parts;
  }

  renew(node: RenewingNode, { refreshToken = "" }: Credential, signal: AbortSignal): Promise<RenewalOutcome> {
    const { scheduler, faults, process, delayMs, committedSoFar } = this.#parts;
    const call: RenewalCall = {
      node: node.name,
      refreshToken,
      seq: committedSoFar(),
      fromMs: scheduler.nowMs,
      toMs: Number.POSITIVE_INFINITY,
    };
    this.calls.push(call);
    const open: OpenCall = { node, call, isCarriedOut: false };
    this.#open.add(open);
    return new Promise((resolve) => {
      const end = (outcome: RenewalOutcome) => {
        this.#end(open);
        resolve(outcome);
      };
      signal.addEventListener("abort", () => end({ state: "unanswered", detail: "given up" }), { once: true });
      const answer = (outcome: RenewalOutcome) =>
        scheduler.after(delayMs(), node, `renewal answered: ${outcome.state}`, () => {
          if (this.#open.has(open)) end(outcome);
        });
      if (faults.strikes("renewal down", 0.1)) return answer({ state: "unanswered", detail: "no connection" });
      const isSlow = faults.strikes("renewal slow", 0.15);
      const workMs = isSlow ? scheduler.dice.between(2_000, 40_000) : delayMs();
      scheduler.after(workMs, process, `${node.name} renews with ${refreshToken}`, () => {
        if (!this.#open.has(open)) return;
        if (node.isDead && scheduler.nowMs - call.fromMs > longestMs) return this.#end(open);
        const outcome = this.#decide(node, refreshToken);
        open.isCarriedOut = true;
        if (node.isDead) return this.#end(open);
        if (faults.strikes("renewal answer lost", 0.15)) {
          if (scheduler.dice.chance(0.5)) answer({ state: "unanswered", detail: "the connection broke" });
        } else answer(outcome);
      });
    });
  }

  /** A node has died: its calls may still arrive, unless they were carried out. */
  disconnect(node: Process): void {
    for (const open of this.#open) {
      if (open.node !== node) continue;
      this.#parts.faults.count("node killed in a renewal");
      if (this.#parts.scheduler.dice.chance(0.5) || open.isCarriedOut) this.#end(open);
    }
  }

  #decide(node: RenewingNode, refreshToken: string): RenewalOutcome {
    const { faults, tokens, scheduler, changed } = this.#parts;
    const isGarbage = faults.strikes("renewal answered garbage", 0.1);
    const garbage = { state: "renewed", credential: { accessToken: "" } } as const;
    // Something before the ecosystem has answered.
    if (isGarbage && scheduler.dice.chance(0.5)) return garbage;
    if (faults.strikes("renewal refused", 0.05)) tokens.end(refreshToken);
    const accessToken = tokens.renew(refreshToken);
    changed();
    if (accessToken === undefined) return this.#refuse(refreshToken);
    faults.count("credential renewed");
    if (isGarbage) return garbage;
    const credential = {
      accessToken,
      refreshToken: refreshTokenFor(accessToken),
      expiresMs: node.nowMs() + tokens.rules!.lifetimeMs,
    };
    return { state: "renewed", credential };
  }

  #refuse(refreshToken: string): RenewalOutcome {
    const { faults, committedSoFar, refused } = this.#parts;
    faults.count("renewal refused for good");
    this.refusals.push({ grant: grantOf(refreshToken), seq: committedSoFar() });
    refused(userOf(refreshToken));
    return { state: "refused", reason: "invalid_grant" };
  }

  #end(open: OpenCall): void {
    const { call } = open;
    if (this.#open.delete(open)) call.toMs = Math.min(this.#parts.scheduler.nowMs, call.fromMs + longestMs);
  }
}
