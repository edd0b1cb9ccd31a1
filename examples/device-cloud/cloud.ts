import { type Breezeway, NotSignedIn, type ThingCommandEvent } from "@breezeway/sdk";
import type { RegisteredLamps } from "./registration.ts";

/** Reports the states of the lamps, and carries out commands to them until the access ends. */
export async function run(
  breezeway: Breezeway,
  lamps: RegisteredLamps,
  tell: (sentence: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  let isReported = false;
  // A stream begins with a heartbeat, and from then on no command is missed. So the states are reported after it.
  for await (const event of breezeway.events({ things: true, heartbeats: true, signal })) {
    try {
      if (event.type === "thingCommand") await carryOut(breezeway, lamps, event, tell);
      // Events are missing: what Breezeway shows may differ from what the lamps do.
      if (event.type === "resync") isReported = false;
      if (!isReported) {
        await report(breezeway, lamps, tell);
        isReported = true;
      }
    } catch (error) {
      if (error instanceof NotSignedIn) throw error;
      // Breezeway may not show the state of a lamp now. The next event, a heartbeat at the latest, reports all states.
      isReported = false;
      tell(`a call to Breezeway failed: ${error instanceof Error ? error.message : error}`);
    }
  }
}

async function report(breezeway: Breezeway, lamps: RegisteredLamps, tell: (sentence: string) => void): Promise<void> {
  const states = Object.fromEntries([...lamps].map(([deviceId, { state }]) => [deviceId, { ...state }]));
  const { written, failed } = await breezeway.devices.setStates(states);
  for (const { deviceId, error_description } of failed) tell(`device ${deviceId}: ${error_description}`);
  tell(`reported the states of ${written.length} lamps`);
}

/** Switches the lamp, and writes what it shows then. This write makes the receipt of the command `confirmed`. */
async function carryOut(
  breezeway: Breezeway,
  lamps: RegisteredLamps,
  { deviceId, thingId, commandId, state, writes }: ThingCommandEvent,
  tell: (sentence: string) => void,
): Promise<void> {
  const lamp = lamps.get(deviceId);
  if (!lamp || state !== "sending" || !writes) return;
  // After a broken connection the stream delivers commands late. One that has expired must not switch a lamp now.
  const receipt = await breezeway.commandReceipt(thingId, commandId);
  if (receipt.state !== "sending") return tell(`${lamp.name}: the command is ${receipt.state} already`);
  if (!lamp.apply(writes)) return tell(`${lamp.name}: a lamp can't do ${JSON.stringify(writes)}`);
  await breezeway.setDeviceAttributes(deviceId, { ...lamp.state });
  tell(`${lamp.name}: power is ${lamp.state.power}`);
}
