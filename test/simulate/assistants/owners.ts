import type { UserId } from "../../../src/model/ids.ts";
import { type Calls, expectOurs } from "../actors/calls.ts";
import type { Faults } from "../faults.ts";
import type { SimulatedNode } from "../node.ts";
import { type Database, Draft } from "../store/rows.ts";
import { type Makers, type OutletId, outletIds } from "./makers.ts";
import { outlet } from "./node-assistants.ts";
import { access, grants } from "./rows.ts";

export interface AssistantOwnerParts {
  readonly calls: Calls;
  readonly faults: Faults;
  readonly database: Database;
  readonly makers: Makers;
  readonly users: readonly UserId[];
}

/** The users who link assistants, and end these links at the maker or in the service. */
export class AssistantOwners {
  areQuiet = false;
  /** The links that their users want, as `google 1`. */
  readonly wanted = new Set<string>();
  readonly #parts: AssistantOwnerParts;
  readonly #lookedAfter = new Set<string>();

  constructor(parts: AssistantOwnerParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const userId of this.#parts.users) {
      for (const outletId of outletIds) if (this.#dice.chance(0.7)) this.#act(userId, outletId, [0, 4_000]);
    }
  }

  /** Google asks for the list of devices, until it gets it. */
  sync(userId: number): void {
    this.#parts.calls.laterOnSomeNode(`Google lists user ${userId}`, [50, 1_500], (node) => {
      if (!this.#parts.makers.linked.has(`google ${userId}`)) return;
      const listed = node.assistants!.grants.establish(outlet("google"), userId as UserId, { isListed: true });
      this.#parts.calls.untilAnswered(
        listed,
        () => undefined,
        () => this.sync(userId),
      );
    });
  }

  get #dice() {
    return this.#parts.calls.scheduler.dice;
  }

  #act(userId: UserId, outletId: OutletId, range: readonly [number, number]): void {
    const { calls, makers, faults } = this.#parts;
    const name = `${outletId} ${userId}`;
    calls.laterOnSomeNode(`assistants of user ${userId}`, range, (node) => {
      if (this.areQuiet) return this.#lookAfter(node, userId, outletId);
      const isLinked = this.wanted.has(name);
      const what = this.#dice.weighted({
        link: isLinked ? 1 : 8,
        ask: 3,
        revoke: isLinked ? 1 : 0,
        end: isLinked ? 1 : 0,
      });
      if (what === "link") this.#link(node, userId, outletId);
      if (what === "ask" && isLinked && makers.linked.has(name)) this.#ask(node, userId, outletId);
      if (what === "revoke") {
        faults.count("assistant access withdrawn");
        this.wanted.delete(name);
        this.#setAccess(userId, outletId, undefined);
      }
      if (what === "end") {
        faults.count("assistant link ended at the maker");
        this.wanted.delete(name);
        makers.linked.delete(name);
        if (outletId === "google" && this.#dice.chance(0.7)) {
          node.assistants!.grants.forget(outletId, userId).catch(expectOurs);
        }
      }
      this.#act(userId, outletId, calls.areRare ? [20_000, 60_000] : [1_000, 8_000]);
    });
  }

  /** In the end what was lost with a fault is linked again, and an operator has everything reported once. */
  #lookAfter(node: SimulatedNode, userId: UserId, outletId: OutletId): void {
    const name = `${outletId} ${userId}`;
    if (this.wanted.has(name)) {
      const isStored = this.#parts.database.get(grants, `${userId} ${outletId}`) !== undefined;
      if (!isStored) this.#link(node, userId, outletId);
      else if (!this.#lookedAfter.has(name)) {
        const reported = node.assistants!.grants.reportAll(outletId, userId);
        this.#parts.calls.untilAnswered(
          reported,
          () => this.#lookedAfter.add(name),
          () => undefined,
        );
      }
    }
    this.#act(userId, outletId, [2_000, 6_000]);
  }

  #link(node: SimulatedNode, userId: UserId, outletId: OutletId): void {
    const { makers } = this.#parts;
    this.wanted.add(`${outletId} ${userId}`);
    makers.link(`${outletId} ${userId}`);
    this.#setAccess(userId, outletId, { userId, outletId });
    this.#establish(node, userId, outletId);
  }

  /** A call of the maker shows that the user is linked. Alexa has given its tokens when it was linked. */
  #ask(node: SimulatedNode, userId: UserId, outletId: OutletId): void {
    if (outletId === "google") node.assistants!.grants.establish(outlet(outletId), userId).catch(expectOurs);
  }

  #establish(node: SimulatedNode, userId: UserId, outletId: OutletId): void {
    const credential = this.#parts.makers.newCredential(userId, node.nowMs());
    const how = outletId === "google" ? { isListed: true } : { messagingAccess: { credential, region: "na" } };
    node.assistants!.grants.establish(outlet(outletId), userId, how).catch(expectOurs);
  }

  #setAccess(userId: UserId, outletId: OutletId, row: object | undefined): void {
    const { database, calls } = this.#parts;
    const draft = new Draft(database);
    draft.set(access, `${userId} ${outletId}`, row);
    database.apply(draft, { node: "user", claim: null, atMs: calls.scheduler.nowMs });
  }
}
