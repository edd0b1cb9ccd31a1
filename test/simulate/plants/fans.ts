import type { CommandOutcome, Connector } from "../../../src/ecosystems/connector.ts";
import type { StoredCommand } from "../../../src/federation/commands/command-kind.ts";
import type { CommandSenderParts } from "../../../src/federation/commands/command-sender.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import type { FanRequestRow } from "../../../src/store/tables/fan-requests.ts";
import { fanAction, fanOf } from "../../ecosystems/actions.ts";
import { withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

type Parts = CommandSenderParts<FanRequestRow>;

function withSenderParts(change: (parts: Parts) => Partial<Parts>) {
  return replace(() => import("../../../src/federation/commands/command-sender.ts"), {
    CommandSender: (original) =>
      class extends original<StoredCommand> {
        constructor(parts: CommandSenderParts<StoredCommand>) {
          super(parts.kind.task === "fan_requests" ? ({ ...parts, ...change(parts as never) } as never) : parts);
        }
      } as never,
  });
}

/** Connections whose connectors run fans in another way. */
function connectionsWith(
  connectionOf: Parts["connectionOf"],
  act: (deviceId: DeviceId, original: Connector["act"]) => Connector["act"],
): Parts["connectionOf"] {
  return (deviceId) => {
    const found = connectionOf(deviceId);
    if (!found) return undefined;
    const { connector } = found;
    const original = connector.act.bind(connector);
    return { ...found, connector: withMethods(connector, { act: act(deviceId, original) }) };
  };
}

const never = new AbortController().signal;

export const fanPlants = [
  plant(
    "sent-before-marked",
    "a fan request is sent before it is durably marked as sent",
    withSenderParts(({ store, connectionOf }) => {
      const early = new Map<string, Promise<CommandOutcome>>();
      return {
        store: withTables(store, (tx) => ({
          fanRequests: {
            async queuedFor(node, limit) {
              const queued = await tx.fanRequests.queuedFor(node, limit);
              for (const { deviceId, thermostatId, value } of queued) {
                const [found, key] = [connectionOf(deviceId), `${deviceId}/${thermostatId}`];
                if (!found || early.has(key)) continue;
                const action = fanAction(thermostatId, value === "true");
                early.set(
                  key,
                  found.run(() => found.connector.act(found.token, action, never)),
                );
              }
              return queued;
            },
          },
        })),
        connectionOf: connectionsWith(connectionOf, (deviceId, act) => (token, action, signal) => {
          const key = `${deviceId}/${fanOf(action).thermostatId}`;
          const sent = early.get(key);
          early.delete(key);
          return sent ?? act(token, action, signal);
        }),
      };
    }),
  ),
  plant(
    "sent-again",
    "a fan request that the ecosystem may have carried out is sent again",
    withSenderParts(({ connectionOf }) => ({
      connectionOf: connectionsWith(connectionOf, (_, act) => async (token, action, signal) => {
        const outcome = await act(token, action, signal);
        return outcome.state === "unanswered" ? act(token, action, never) : outcome;
      }),
    })),
  ),
  plant(
    "never-swept",
    "nobody settles the fan requests that a dead node left behind",
    withSenderParts(({ store }) => ({
      store: withTables(store, () => ({ fanRequests: { overdue: async () => [] } })),
    })),
  ),
  plant(
    "answer-given-up",
    "the answer to a fan request is forgotten when the store can't be reached",
    withSenderParts(({ commit }) => ({ commit: (request) => commit(request).catch(() => []) })),
  ),
  plant(
    "outcome-of-another",
    "the outcome of a fan request is written also when another thermostat has its slot",
    replace(() => import("../../../src/federation/commands/fan-slot.ts"), {
      slotOf: (original) => async (tx, command) => {
        const { isAbout } = await import("../../../src/virtual-device/fan-request.ts");
        const { userId, deviceId, attribute } = command;
        const slot = await original(tx, command);
        const [shown] = await tx.attributes.some(userId, deviceId, [attribute]);
        return { ...slot, isWritable: slot.isLatest && isAbout(command, shown?.value ?? null) };
      },
    }),
  ),
];
