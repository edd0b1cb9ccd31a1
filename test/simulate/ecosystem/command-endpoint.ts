import type { CommandOutcome } from "../../../src/ecosystems/connector.ts";
import type { fanOf } from "../../ecosystems/actions.ts";
import type { TokenUser, TokenUses } from "../actors/token-uses.ts";
import { type Tokens, userOf } from "../actors/tokens.ts";
import type { FanSend } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";

type FanCommand = ReturnType<typeof fanOf>;

export interface CommandEndpointParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly tokens: Tokens;
  readonly uses: TokenUses;
  readonly process: Process;
  readonly committedSoFar: () => number;
  readonly delayMs: () => number;
  /** Carries the command out in the user's home. */
  readonly carryOut: (userId: number, command: FanCommand) => void;
}

/** After this time a stream without faults has delivered a change. */
const shownMs = 100;

/** Where nodes send commands. It accepts and executes most of them, refuses some, and leaves some without an answer. */
export class CommandEndpoint {
  readonly sends: FanSend[] = [];
  readonly #parts: CommandEndpointParts;

  constructor(parts: CommandEndpointParts) {
    this.#parts = parts;
  }

  runFan(node: Process & TokenUser, token: string, command: FanCommand, signal: AbortSignal): Promise<CommandOutcome> {
    const { scheduler, process, uses, committedSoFar, delayMs } = this.#parts;
    const seq = committedSoFar();
    const [userId, isRefused] = [userOf(token), false];
    const send: FanSend = { node: node.name, userId, token, ...command, seq, isRefused, answer: undefined };
    this.sends.push(send);
    const refused = uses.begin(node, token, "command");
    return new Promise((resolve) => {
      const giveUp = () => resolve({ state: "unanswered", detail: "given up" });
      if (signal.aborted) return giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      const answer = (outcome: Exclude<CommandOutcome, { state: "unanswered" }>) =>
        scheduler.after(delayMs(), node, `fan command answered: ${outcome.state}`, () => {
          if (outcome.state === "unauthorized") refused();
          if (signal.aborted) return;
          send.answer = outcome.state;
          resolve(outcome);
        });
      scheduler.after(delayMs(), process, `${node.name} runs the fan of ${command.thermostatId}`, () => {
        this.#arrived(node, send, command, answer, giveUp);
      });
    });
  }

  #arrived(
    node: Process,
    send: FanSend,
    command: FanCommand,
    answer: (outcome: Exclude<CommandOutcome, { state: "unanswered" }>) => void,
    giveUp: () => void,
  ): void {
    const { scheduler, faults, tokens, delayMs, carryOut } = this.#parts;
    const { dice } = scheduler;
    const will = dice.weighted({ accepted: 10, rejected: 4, unanswered: 3 })!;
    const what = tokens.isGood(send.token) ? will : "unauthorized";
    // Of half of the commands the ecosystem says which state they caused.
    const isCauseTold = this.sends.length % 2 === 0;
    const caused = Promise.withResolvers<void>();
    faults.count(`fan command ${what}`);
    if (what === "unauthorized") send.isRefused = true;
    else tokens.use(send.token);
    if (what === "unauthorized") answer({ state: "unauthorized" });
    else if (what === "rejected") answer({ state: "rejected", message: "no, not now" });
    else if (what === "accepted") answer({ state: "accepted", ...(isCauseTold && { caused: caused.promise }) });
    else if (dice.chance(0.3)) scheduler.after(0, node, "fan command given up", giveUp);
    if (what === "unauthorized" || what === "rejected" || !dice.chance(0.8)) return;
    scheduler.after(delayMs(), this.#parts.process, `fan of ${command.thermostatId} is ${command.isOn}`, () => {
      carryOut(send.userId, command);
      if (isCauseTold) scheduler.after(shownMs, node, "the stream has shown what the command caused", caused.resolve);
    });
  }
}
