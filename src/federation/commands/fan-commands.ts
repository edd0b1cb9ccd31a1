import { thermostatKey } from "../../home/reported-things.ts";
import type { FanRequestChange, FanRequestRow } from "../../store/tables/fan-requests.ts";
import type { AwaitedFans } from "./awaited-fans.ts";
import type { CommandKind } from "./command-kind.ts";
import { answered, caused, isShownAlready, keepAnswer, overdue, restate } from "./fan-outcome.ts";
import { changeReceipt } from "./fan-receipts.ts";

/** Fan requests: commands that clients write to `requestWrite` of a virtual device. */
export function fanCommands(awaited: AwaitedFans): CommandKind<FanRequestRow> {
  return {
    task: "fan_requests",
    words: { one: "a fan request", many: "fan requests" },
    queuedFor: (tx, owner, limit) => tx.fanRequests.queuedFor(owner, limit),
    overdue: (tx, ...found) => tx.fanRequests.overdue(...found),
    async mark(tx, command, sentMs) {
      const others = await tx.thingCommands.running(
        command.userId,
        command.deviceId,
        thermostatKey(command.thermostatId),
      );
      // A thermostat gets one command at a time: a fan request waits while a command to its thing is being sent.
      if (others.some(({ state }) => state === "sending")) return undefined;
      const change: FanRequestChange = { state: "sending", sentMs };
      return (await changeReceipt(tx, command, ["queued"], change, sentMs)) ? { ...command, ...change } : undefined;
    },
    hasNextStep: () => false,
    send: (connector, token, { thermostatId, value }, signal) => {
      const step = { trait: "fanTimer", set: { active: value === "true" } } as const;
      return connector.act(token, { key: thermostatKey(thermostatId), step }, signal);
    },
    async answered(tx, command, outcome, nowMs, isFollowed) {
      const updates = await answered(tx, command, outcome, nowMs, isFollowed);
      return { updates, isAwaited: outcome.state === "accepted" && (await isShownAlready(tx, command)) };
    },
    keepAnswer,
    expectEcho: (command, sentMs) => awaited.add(command, sentMs),
    restate(command, outcome) {
      const isShown = awaited.answer(command);
      const isRefused = outcome.state === "rejected" || outcome.state === "unauthorized";
      return isShown && !isRefused ? (tx) => restate(tx, command) : undefined;
    },
    forgetOverdue: (nowMs) => awaited.forgetOverdue(nowMs),
    settleCaused: caused,
    settleOverdue: overdue,
  };
}
