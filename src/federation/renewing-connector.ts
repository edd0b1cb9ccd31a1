import type { Action, CommandOutcome, Connector } from "../ecosystems/connector.ts";
import type { Timers } from "../runtime/runtime.ts";
import { aborted } from "./aborted.ts";
import type { FollowedCredential } from "./link-credential.ts";

const late: CommandOutcome = { state: "unanswered", detail: "no answer in time" };

/**
 * Sends commands with a credential that may have expired: when the ecosystem refuses the token, the credential is
 * renewed, and the command is sent with the new token. A refused command was not carried out, so it is carried out at
 * most once. A command is never sent with a token that is known to be refused: it waits for the new one.
 */
export function withRenewal(
  connector: Connector,
  credential: FollowedCredential,
  timers: Pick<Timers, "after">,
): Pick<Connector, "act"> {
  // The time limit also holds for a connector that ignores its signal. A refusal that came before it stays known.
  const send = async (token: string, action: Action, signal: AbortSignal): Promise<CommandOutcome> => {
    const outcome = await Promise.race([connector.act(token, action, signal), tooLate(timers, signal)]);
    if (outcome.state === "unauthorized") credential.refused(token, "command");
    return outcome;
  };
  return {
    async act(_, action, signal) {
      const { token } = credential;
      const outcome: CommandOutcome = credential.isRefused(token)
        ? { state: "unauthorized" }
        : await send(token, action, signal);
      if (outcome.state !== "unauthorized" || !credential.canReplace(token)) return outcome;
      await credential.replace(token, signal);
      const renewed = credential.token;
      if (renewed === token || signal.aborted || credential.isRefused(renewed)) return outcome;
      return send(renewed, action, signal);
    },
  };
}

/**
 * Resolves one turn of the event loop after the signal aborts: a connector that answers when its signal aborts may know
 * that the ecosystem has accepted the command.
 */
async function tooLate(timers: Pick<Timers, "after">, signal: AbortSignal): Promise<CommandOutcome> {
  await aborted(signal);
  await new Promise<void>((resolve) => {
    timers.after(0, resolve);
  });
  return late;
}
