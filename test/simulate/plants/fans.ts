import type { CommandOutcome, Connector } from "../../../src/ecosystems/connector.ts";
import type { FanSenderParts } from "../../../src/federation/commands/command-sender.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

function withSenderParts(change: (parts: FanSenderParts) => Partial<FanSenderParts>) {
  return replace(() => import("../../../src/federation/commands/command-sender.ts"), {
    FanSender: (original) =>
      class extends original {
        constructor(parts: FanSenderParts) {
          super({ ...parts, ...change(parts) });
        }
      },
  });
}

/** Connections whose connectors run fans in another way. */
function connectionsWith(
  connectionOf: FanSenderParts["connectionOf"],
  runFan: (deviceId: DeviceId, original: Connector["runFan"]) => Connector["runFan"],
): FanSenderParts["connectionOf"] {
  return (deviceId) => {
    const found = connectionOf(deviceId);
    if (!found) return undefined;
    const { connector } = found;
    const original = connector.runFan.bind(connector);
    return { ...found, connector: withMethods(connector, { runFan: runFan(deviceId, original) }) };
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
          commands: {
            async queuedFor(node, limit) {
              const queued = await tx.commands.queuedFor(node, limit);
              for (const { deviceId, thermostatId, value } of queued) {
                const [found, key] = [connectionOf(deviceId), `${deviceId}/${thermostatId}`];
                if (!found || early.has(key)) continue;
                const request = { thermostatId, isOn: value === "true" };
                early.set(
                  key,
                  found.run(() => found.connector.runFan(found.token, request, never)),
                );
              }
              return queued;
            },
          },
        })),
        connectionOf: connectionsWith(connectionOf, (deviceId, runFan) => (token, request, signal) => {
          const key = `${deviceId}/${request.thermostatId}`;
          const sent = early.get(key);
          early.delete(key);
          return sent ?? runFan(token, request, signal);
        }),
      };
    }),
  ),
  plant(
    "sent-again",
    "a fan request that the ecosystem may have carried out is sent again",
    withSenderParts(({ connectionOf }) => ({
      connectionOf: connectionsWith(connectionOf, (_, runFan) => async (token, request, signal) => {
        const outcome = await runFan(token, request, signal);
        return outcome.state === "unanswered" ? runFan(token, request, never) : outcome;
      }),
    })),
  ),
  plant(
    "never-swept",
    "nobody settles the fan requests that a dead node left behind",
    withSenderParts(({ store }) => ({ store: withTables(store, () => ({ commands: { overdue: async () => [] } })) })),
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
