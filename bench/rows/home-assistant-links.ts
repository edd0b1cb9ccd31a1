import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { linkedUsage, type MeasuredEcosystem } from "../linked-usage.ts";
import type { Row } from "../row.ts";

/** CPU and memory of linked Home Assistants on one node. */
export const homeAssistantLinks: Row = {
  name: "home-assistant-links",
  measure: (progress) => linkedUsage({ account: "a Home Assistant", sampleMs: 5_000, start }, progress),
};

/** Many accounts of one instance, each with a token of its own. */
async function start(): Promise<MeasuredEcosystem> {
  const { tokens, url, instance, stop } = await startHomeAssistant();
  return {
    settings: { protocol: "home-assistant", allowPrivateNetworks: true },
    newAccount: () => ({ credential: tokens.addLongLived(), address: url }),
    report(sampleMs) {
      let turn = 0;
      const reporting = setInterval(() => {
        turn += 1;
        instance.change("climate.hallway", undefined, { current_temperature: 19 + (turn % 4) / 10 });
      }, sampleMs);
      return () => clearInterval(reporting);
    },
    stop,
  };
}
