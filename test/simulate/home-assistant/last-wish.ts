import type { UserId } from "../../../src/model/ids.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { type Calls, expectOurs } from "../actors/calls.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Database } from "../store/rows.ts";
import { thingCommandsOf } from "../store/thing-command-rows.ts";
import { thingsOf } from "../store/thing-rows.ts";
import type { Instance } from "./instance.ts";

export interface LastWishParts {
  readonly userId: UserId;
  readonly instance: Instance;
  readonly calls: Calls;
  readonly scheduler: Scheduler;
  readonly database: Database;
  readonly linkOf: (userId: number) => LinkRow | undefined;
  readonly broken: (guarantee: string) => void;
}

/** Simulated time within which an alarm is shown and a command has ended, without faults. */
const fulfilledWithinMs = 15_000;

/**
 * An alarm and a command of an honest home at the end of a run, when all faults are over: hostile homes beside it must not
 * hold them up.
 */
export class LastWish {
  readonly #parts: LastWishParts;
  #stage: "none" | "alarm" | "command" | "fulfilled" = "none";
  #sinceMs = 0;

  constructor(parts: LastWishParts) {
    this.#parts = parts;
  }

  get userId(): UserId {
    return this.#parts.userId;
  }

  /** What is missing until the wish is fulfilled. `behind`: what the link does not show as it is in the home. */
  missing(behind: string | undefined): string | undefined {
    const { userId, scheduler, instance, broken } = this.#parts;
    const isShown = behind === undefined;
    if (this.#stage === "none" && isShown) {
      this.#begin("alarm");
      instance.sound();
    } else if (this.#stage === "alarm" && isShown) {
      this.#begin("command");
      this.#command();
    } else if (this.#stage === "command" && this.#isConfirmed()) this.#begin("fulfilled");
    if (this.#stage === "none" || this.#stage === "fulfilled") return undefined;
    const missing = `honest user ${userId} beside a hostile one waits for the end of: ${this.#stage} (${behind})`;
    if (scheduler.nowMs - this.#sinceMs > fulfilledWithinMs) broken(missing);
    return missing;
  }

  #begin(stage: "alarm" | "command" | "fulfilled"): void {
    this.#stage = stage;
    this.#sinceMs = this.#parts.scheduler.nowMs;
  }

  #isConfirmed(): boolean {
    const { userId, database, linkOf } = this.#parts;
    const commands = thingCommandsOf(database, linkOf(userId)?.deviceId ?? 0);
    return commands.some(({ clientId, state }) => clientId === wisher && state === "confirmed");
  }

  #command(): void {
    const { userId, calls, database, linkOf } = this.#parts;
    calls.laterOnSomeNode(`user ${userId} commands at last`, [0, 100], (node) => {
      const { deviceId } = linkOf(userId)!;
      const present = thingsOf(database, deviceId).filter(({ goneMs }) => goneMs === null);
      const pick = (ids: readonly string[]) => ids.find((id) => present.some(({ thingId }) => thingId === id))!;
      const command = { trait: "thermostat", command: "setMode", params: { mode: "heat" } } as const;
      node.commandThermostat(userId, deviceId, command, pick, wisher).catch(expectOurs);
    });
  }
}

const wisher = "last wish";
