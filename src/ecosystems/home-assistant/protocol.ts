import type { Protocol } from "../protocol.ts";
import { type HomeAssistantConfiguration, protocol, readConfiguration } from "./configuration.ts";
import { showsGooglesDevice } from "./googles-integrations.ts";

/** Home Assistant: each account is an instance with an address of its own, and is followed over a WebSocket. */
export const homeAssistant: Protocol<HomeAssistantConfiguration> = {
  protocol,
  consent: "token",
  isGoogles: showsGooglesDevice,
  page: {
    shortExample: '{"home":{"protocol":"home-assistant"}}',
    example: { name: "home", settings: { protocol, allowPrivateNetworks: false } },
    members: [
      [
        "`allowPrivateNetworks`",
        "`true`: instances may have private addresses, and addresses without TLS (`http:`). Only for deployments whose users may reach that network. Default: `false`",
      ],
    ],
  },
  readConfiguration,
  async connector({ name, allowPrivateNetworks }, { runtime, ...parts }) {
    const { homeAssistantConnector } = await import("./connector.ts");
    const { nowMs } = runtime;
    return homeAssistantConnector({ name, allowPrivateNetworks, nowMs, timers: runtime, ...parts });
  },
};
