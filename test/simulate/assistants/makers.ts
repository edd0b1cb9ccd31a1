import type { AssistantMessage } from "../../../src/assistants/assistant.ts";
import type { CallMaker, MakerAnswer, MakerCall } from "../../../src/assistants/maker-call.ts";
import type { Faults } from "../faults.ts";
import type { SimulatedNode } from "../node.ts";
import type { Scheduler } from "../scheduler.ts";

export const outletIds = ["google", "alexa"] as const;
export type OutletId = (typeof outletIds)[number];

/** A message that a maker has got, and whether it took it. */
export interface Arrived {
  readonly outletId: OutletId;
  readonly userId: number;
  readonly node: string;
  /** The number of committed transactions, and the time, when the node sent it. */
  readonly sentSeq: number;
  readonly sentMs: number;
  readonly isTaken: boolean;
  readonly body: object;
  /** How new the state of each thing in it is, where the message does not say so itself. */
  readonly versions: ReadonlyMap<string, number>;
}

export interface MakerParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly committedSoFar: () => number;
  /** In a quiet period the makers work. */
  readonly isQuiet: () => boolean;
  /** Google asks for the list of devices. */
  readonly syncRequested: (userId: number) => void;
}

type Reaction = "taken" | "slow" | "down" | "answer lost" | 401 | 403 | 404 | 429 | 503;

/** Google's Home Graph and Amazon's event gateway and tokens: they take messages, refuse them, are slow, or down. */
export class Makers {
  readonly arrived: Arrived[] = [];
  /** The accounts at a maker that are linked, as `google 1`, with the number of committed transactions at that time. */
  readonly linked = new Map<string, number>();
  readonly #parts: MakerParts;
  readonly #versions = new WeakMap<object, ReadonlyMap<string, number>>();
  #tokens = 0;
  #uuids = 0;

  constructor(parts: MakerParts) {
    this.#parts = parts;
  }

  /** Remembers how new the things of a message are. */
  note({ body }: AssistantMessage, versions: ReadonlyMap<string, number>): void {
    this.#versions.set(body, versions);
  }

  /** The user links the account, or links it again. */
  link(name: string): void {
    this.linked.set(name, this.#parts.committedSoFar());
  }

  newUuid(): string {
    this.#uuids += 1;
    return `uuid-${this.#uuids}`;
  }

  newCredential(userId: number, nowMs: number): object {
    this.#tokens += 1;
    const expiresMs = nowMs + this.#parts.scheduler.dice.pick([290_000, 310_000, 3_600_000]);
    return { accessToken: `access ${userId} ${this.#tokens}`, refreshToken: `refresh ${userId}`, expiresMs };
  }

  callFor(node: SimulatedNode): CallMaker {
    const { scheduler, committedSoFar } = this.#parts;
    return (call, signal) =>
      new Promise((resolve) => {
        const sent = { sentSeq: committedSoFar(), sentMs: scheduler.nowMs };
        const unanswered = (detail: string) => resolve({ isAnswered: false, detail });
        if (signal.aborted) return unanswered("no time left");
        signal.addEventListener("abort", () => unanswered("no answer in time"), { once: true });
        scheduler.after(this.#delayMs(), undefined, `${node.name} calls ${call.url}`, () => {
          // A message that a node sent before it died may still arrive.
          if (signal.aborted || (node.isDead && scheduler.dice.chance(0.5))) return;
          const reaction = this.#reaction();
          if (reaction === "down") return scheduler.after(0, node, "a maker is down", () => unanswered("down"));
          const answer = this.#answer(node, call, reaction, sent);
          if (reaction === "answer lost") return;
          const delayMs = reaction === "slow" ? scheduler.dice.between(2_000, 11_000) : this.#delayMs();
          scheduler.after(delayMs, undefined, `${call.url} is answered`, () => {
            scheduler.after(0, node, "answer of a maker", () => resolve(answer));
          });
        });
      });
  }

  #answer(
    node: SimulatedNode,
    call: MakerCall,
    reaction: Reaction,
    sent: Pick<Arrived, "sentSeq" | "sentMs">,
  ): MakerAnswer {
    const answered = (status: number, document: Readonly<Record<string, unknown>> = {}): MakerAnswer => {
      return { isAnswered: true, status, document, headers: {} };
    };
    const [outletId, what] = new URL(call.url).pathname.slice(1).split("/") as [OutletId, string];
    const userId = Number(userOf(call));
    const isLinked = this.linked.has(`${outletId} ${userId}`);
    if (what === "token") {
      if (typeof reaction === "number") return answered(reaction === 429 ? 429 : 503);
      if (!isLinked) return answered(400, { error: "invalid_grant" });
      this.#parts.faults.count("assistant token renewed");
      const { accessToken, refreshToken } = this.newCredential(userId, 0) as Readonly<Record<string, string>>;
      return answered(200, { access_token: accessToken, refresh_token: refreshToken, expires_in: 3_600 });
    }
    if (typeof reaction === "number" && reaction !== 404) return answered(reaction);
    if (reaction === 404 && outletId === "alexa")
      return answered(404, { payload: { code: "SKILL_NOT_FOUND_EXCEPTION" } });
    const isTaken = isLinked && reaction !== 404;
    const body = call.body as object;
    this.arrived.push({
      ...{ outletId, userId, node: node.name, ...sent, isTaken, body },
      versions: this.#versions.get(body) ?? new Map(),
    });
    if (!isTaken && outletId === "google") return answered(404);
    if (!isTaken) return answered(403, { payload: { code: "SKILL_DISABLED_EXCEPTION" } });
    this.#parts.faults.count("assistant told");
    if (what === "requestSync") this.#parts.syncRequested(userId);
    return answered(outletId === "google" ? 200 : 202);
  }

  #reaction(): Reaction {
    const { faults, isQuiet } = this.#parts;
    if (isQuiet()) return "taken";
    if (faults.strikes("maker down", 0.05)) return "down";
    if (faults.strikes("maker loses its answer", 0.05)) return "answer lost";
    if (faults.strikes("maker refuses the token", 0.04)) return 401;
    if (faults.strikes("maker forbids", 0.02)) return 403;
    if (faults.strikes("maker finds nothing", 0.02)) return 404;
    if (faults.strikes("maker throttles", 0.04)) return 429;
    if (faults.strikes("maker fails", 0.05)) return 503;
    return faults.strikes("maker slow", 0.04) ? "slow" : "taken";
  }

  #delayMs(): number {
    const { dice } = this.#parts.scheduler;
    return dice.chance(0.03) ? dice.between(200, 3_000) : dice.between(1, 40);
  }
}

/** The user whom a call is about: in the id of the agent's user, or in a token. */
function userOf({ body, form, token }: MakerCall): string {
  const agentUserId = (body as { readonly agentUserId?: string } | undefined)?.agentUserId;
  return agentUserId ?? (form?.refresh_token ?? token ?? "").split(" ")[1]!;
}
