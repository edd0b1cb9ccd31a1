import { readyFan, settled } from "../client/fan.ts";
import { linkedDevice } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const fanAccepted: Row = {
  name: "fan-accepted",
  group: "The linked account",
  title: "A fan starts and stops",
  proves:
    "A client can see that the fan has started: fan_timer_active has a later time than the request, and requestWrite is blank.",
  isEssential: true,
  needs: [],
  after: ["mirror"],
  unless: ["times", "write"],
  async run(context) {
    const fan = await readyFan(context);
    await fan.setPresence("come-home", "home");
    for (const value of ["true", "false"]) {
      const state = await settled(context, await fan.requestFan(value));
      ensure(state.is === "running", () => ({
        seen: `A fan that could be set to ${value} was refused: "${state.is === "error" ? state.text : state.is}".`,
        side: "ecosystem",
        next: "The text says why; the simulator's page shows what it heard and answered.",
      }));
      const request = (await linkedDevice(context, [fan.requestName])).attributes[fan.requestName]?.value ?? null;
      ensure(request === null, () => ({
        seen: `The fan does what was asked, but requestWrite still reads "${request}".`,
        side: "service",
        next: "GET /v3/devices/{id}/commands shows the request's receipt.",
      }));
    }
    return { seen: "Started and stopped, each with a later time, and requestWrite blank again." };
  },
};
