import type { Credential } from "../../../src/ecosystems/credential.ts";
import type { UserId } from "../../../src/model/ids.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import type { SimulatedNode } from "../node.ts";
import type { Calls } from "./calls.ts";

export interface OtherLinkOwnersParts {
  readonly calls: Calls;
  /** The name of the ecosystem in the settings. */
  readonly ecosystem: string;
  readonly users: readonly UserId[];
  readonly linkOf: (userId: number) => LinkRow | undefined;
  /** The user consents anew. `nowMs`: the time by which the credential expires. */
  readonly consent: (userId: UserId, nowMs: number) => Credential;
}

/**
 * The users of an ecosystem beside the first one. Each looks at the link now and then: without a link the user links,
 * and a link that asks for consent gets it. Some unlink once.
 */
export class OtherLinkOwners {
  areQuiet = false;
  readonly #parts: OtherLinkOwnersParts;
  /** Users with a call in progress. */
  readonly #calling = new Set<UserId>();

  constructor(parts: OtherLinkOwnersParts) {
    this.#parts = parts;
  }

  start(): void {
    const { users, calls } = this.#parts;
    for (const userId of users) {
      this.#look(userId, [0, 3_000]);
      if (calls.scheduler.dice.chance(0.25)) this.#unlink(userId);
    }
  }

  #look(userId: UserId, range: readonly [number, number]): void {
    const { calls, linkOf, ecosystem, consent } = this.#parts;
    calls.laterOnSomeNode(`user ${userId} of ${ecosystem} looks`, range, (node) => {
      const link = linkOf(userId);
      const { federation } = node;
      if (!link) this.#call(userId, () => federation.link(userId, ecosystem, consent(userId, node.nowMs())));
      else if (link.state === "needs_reauth") {
        this.#call(userId, () => federation.relink(userId, ecosystem, consent(userId, node.nowMs())));
      }
      this.#look(userId, [500, 3_000]);
    });
  }

  #unlink(userId: UserId): void {
    const { calls, ecosystem } = this.#parts;
    calls.laterOnSomeNode(`user ${userId} leaves ${ecosystem}`, [8_000, 25_000], (node: SimulatedNode) => {
      if (!this.areQuiet) this.#call(userId, () => node.federation.unlink(userId, ecosystem));
    });
  }

  #call(userId: UserId, call: () => Promise<unknown>): void {
    if (this.#calling.has(userId)) return;
    this.#calling.add(userId);
    const over = () => this.#calling.delete(userId);
    this.#parts.calls.untilAnswered(call(), over, over);
  }
}
