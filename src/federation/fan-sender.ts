import type { AttributeChange, Commit, CommitTables } from "../devices/commit.ts";
import type { CommandOutcome, Connector } from "../ecosystem/connector.ts";
import { placeOf, thermostatAttribute } from "../model/attribute-names.ts";
import { NotFound, OwnershipLost, StoreUnavailable } from "../model/errors.ts";
import { fanDeadlines, fanErrorText, noAnswer } from "../model/fan-request.ts";
import { type Cancel, pause, type Surroundings } from "../model/surroundings.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Store } from "../store/seam.ts";
import type { CommandChange, CommandRow } from "../store/tables/commands.ts";
import { changeReceipt } from "./fan-receipts.ts";
import type { LinkKey } from "./link-key.ts";

export interface FanSenderParts {
  readonly store: Store<CommitTables>;
  readonly commit: Commit;
  readonly membership: Membership;
  /** How to reach the ecosystem for a link that this node owns. */
  readonly reach: (deviceId: CommandRow["deviceId"]) => FanReach | undefined;
  readonly surroundings: Surroundings;
}

export interface FanReach {
  readonly link: LinkKey;
  readonly token: string;
  readonly connector: Connector;
}

const everyMs = 500;
const atOnce = 100;

/**
 * Sends the fan requests of the links that this node owns: marked as sent before the one sending, never sent again, and
 * its outcome always recorded. What a node that died left behind, any node settles: nobody knows whether it was carried
 * out, and so it says.
 */
export class FanSender {
  readonly #parts: FanSenderParts;
  readonly #sending = new Map<number, { readonly sentMs: number; readonly done: Promise<void> }>();
  readonly #stopping = new AbortController();
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #next: Cancel | undefined;

  constructor(parts: FanSenderParts) {
    this.#parts = parts;
  }

  /** Whatever an earlier life of a lone node was sending has no answer to wait for. */
  async start(): Promise<void> {
    if (!this.#parts.store.isShared) await this.#sweep(0);
    this.#schedule();
  }

  /** There is something to send: a write has just become durable here. */
  wake(): void {
    this.#isAwaited = true;
    this.#round ??= this.#work();
  }

  sentAt(commandId: number): number | undefined {
    return this.#sending.get(commandId)?.sentMs;
  }

  /** Lets what is under way end, for as long as the ecosystem may take, unless it is told to hurry. */
  async stop(): Promise<void> {
    this.#next?.();
    this.#stopping.abort();
    await this.#round;
    await Promise.all([...this.#sending.values()].map(({ done }) => done));
  }

  #schedule(): void {
    this.#next = this.#parts.surroundings.after(everyMs, () => {
      this.wake();
      if (!this.#stopping.signal.aborted) this.#schedule();
    });
  }

  async #work(): Promise<void> {
    try {
      while (this.#isAwaited && !this.#stopping.signal.aborted) {
        this.#isAwaited = false;
        const { store, membership } = this.#parts;
        if (!membership.isAlive) return;
        const queued = await store.read((tx) => tx.commands.queuedFor(membership.id, atOnce));
        for (const command of queued) this.#begin(command);
        await this.#sweep(fanDeadlines.sweepMs);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        this.#parts.surroundings.report.error({ error }, "fan requests could not be looked after");
      }
    } finally {
      this.#round = undefined;
    }
  }

  #begin(command: CommandRow): void {
    const reach = this.#parts.reach(command.deviceId);
    if (!reach || this.#sending.has(command.id)) return;
    const sentMs = this.#parts.surroundings.elapsedMs();
    const done = this.#send(command, reach)
      .catch((error) => this.#parts.surroundings.report.error({ error }, "a fan request could not be settled"))
      .finally(() => this.#sending.delete(command.id));
    this.#sending.set(command.id, { sentMs, done });
  }

  async #send(command: CommandRow, { link, token, connector }: FanReach): Promise<void> {
    const marked = await this.#mark(command, link);
    if (!marked) return;
    const isOn = command.value === "true";
    const outcome = await this.#inTime((signal) =>
      connector.runFan(token, { thermostatId: command.thermostatId, isOn }, signal),
    );
    await this.#settle(marked, outcome);
  }

  /** Durable before anything is sent: whoever finds it so knows that it may have been. */
  async #mark(command: CommandRow, { userId, deviceId, ownership }: LinkKey): Promise<CommandRow | undefined> {
    return this.#parts.store.transaction(async (tx) => {
      const sentMs = await tx.users.lock(userId);
      if (sentMs === undefined || !(await tx.links.holds(userId, deviceId, ownership))) return undefined;
      const change: CommandChange = { state: "sending", sentMs };
      return (await changeReceipt(tx, command, ["queued"], change, sentMs)) ? { ...command, ...change } : undefined;
    });
  }

  async #inTime(send: (signal: AbortSignal) => Promise<CommandOutcome>): Promise<CommandOutcome> {
    const giveUp = new AbortController();
    const cancel = this.#parts.surroundings.after(fanDeadlines.answerMs, () => giveUp.abort());
    const stop = () => giveUp.abort();
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    try {
      return await send(giveUp.signal);
    } finally {
      cancel();
      this.#stopping.signal.removeEventListener("abort", stop);
    }
  }

  /** The outcome of what was sent is not given up because the store is slow. */
  async #settle(command: CommandRow, outcome: CommandOutcome): Promise<void> {
    const { commit, surroundings } = this.#parts;
    for (;;) {
      try {
        await commit({
          userId: command.userId,
          cause: { by: "ecosystem" },
          updates: (tx, nowMs) => settled(tx, command, outcome, nowMs),
        });
        return;
      } catch (error) {
        // Unlinked or removed meanwhile: there is nobody left to tell.
        if (error instanceof NotFound || error instanceof OwnershipLost) return;
        if (!(error instanceof StoreUnavailable) || this.#stopping.signal.aborted) throw error;
        await pause(surroundings, 1_000, this.#stopping.signal);
      }
    }
  }

  /** Settles what should have been settled so long ago. */
  async #sweep(afterMs: number): Promise<void> {
    const { store } = this.#parts;
    const overdue = await store.read(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      const sentBeforeMs = nowMs - afterMs;
      return tx.commands.overdue(nowMs - fanDeadlines.sweepMs, sentBeforeMs, nowMs - fanDeadlines.showMs, atOnce);
    });
    for (const command of overdue) {
      if (!this.#sending.has(command.id)) await this.#settle(command, { state: "unanswered", detail: "" });
    }
  }
}

/** What an outcome changes, by how the request stands when it becomes known. */
async function settled(tx: CommitTables, given: CommandRow, outcome: CommandOutcome, nowMs: number) {
  const { userId, deviceId, attribute, value } = given;
  const command = await tx.commands.find(userId, deviceId, given.id);
  if (!command) return [];
  const place = placeOf(attribute) as { readonly x: number; readonly y: number };
  const keys = {
    thermostat: thermostatAttribute(place.x, place.y, "deviceId"),
    fan: thermostatAttribute(place.x, place.y, "fanTimerActive"),
  };
  const rows = new Map((await tx.attributes.some(userId, deviceId, Object.values(keys))).map((row) => [row.key, row]));
  // The slot may have been given to another thermostat: what is written there is no longer about this one.
  const isStillThere = rows.get(keys.thermostat)?.value === command.thermostatId;
  const write = (text: string | null): readonly { deviceId: typeof deviceId; changes: readonly AttributeChange[] }[] =>
    isStillThere ? [{ deviceId, changes: [{ key: attribute, value: text }] }] : [];
  const reject = async (text: string, blockedUntilMs: number | null = null) => {
    const change: CommandChange = { state: "rejected", text, settledMs: nowMs, blockedUntilMs };
    const isChanged = await changeReceipt(tx, command, ["sending", "confirmed"], change, nowMs);
    return isChanged ? write(fanErrorText(text, value, nowMs)) : [];
  };
  switch (outcome.state) {
    case "accepted":
      return (await changeReceipt(tx, command, ["sending"], { state: "accepted" }, nowMs)) ? write(null) : [];
    case "rejected":
      return reject(outcome.message, outcome.retryAfterMs === undefined ? null : nowMs + outcome.retryAfterMs);
    case "unauthorized":
      return reject("The account must be linked again");
    case "unanswered": {
      if (command.state === "accepted") {
        const isShown = rows.get(keys.fan)?.value === value;
        const state = isShown ? "confirmed" : "contradicted";
        await changeReceipt(tx, command, ["accepted"], { state, settledMs: nowMs }, nowMs);
        return [];
      }
      const change: CommandChange = { state: "expired", text: noAnswer, settledMs: nowMs };
      const isChanged = await changeReceipt(tx, command, ["queued", "sending"], change, nowMs);
      return isChanged ? write(fanErrorText(noAnswer, value, nowMs)) : [];
    }
  }
}
