import type { Protocol } from "../protocol.ts";
import { type NestConfiguration, protocol, readConfiguration } from "./configuration.ts";

/** The protocol of Works with Nest: REST, and a stream of Server-Sent Events that carry the whole account. */
export const nest: Protocol<NestConfiguration> = {
  protocol,
  consent: "code",
  page: {
    shortExample: '{"nest":{"protocol":"nest","apiUrl":"…","allowedHosts":["…"]}}',
    example: {
      name: "nest",
      settings: {
        protocol,
        apiUrl: "https://api.home.example",
        allowedHosts: ["api.home.example:443", "node-1.home.example:443"],
        authUrl: "https://home.example/login/oauth2",
        tokenUrl: "https://api.home.example/oauth2/access_token",
        clientId: "<client id in the ecosystem>",
        clientSecret: "<client secret in the ecosystem>",
      },
    },
    members: [
      ["`apiUrl`", "the address of the ecosystem's interface"],
      ["`allowedHosts`", "the hosts to which the ecosystem may redirect. Default: the host of `apiUrl`"],
      [
        "`authUrl`, `tokenUrl`, `clientId`, `clientSecret`",
        "all or none: needed only for link pages and `breezeway link add --consent`. Register `<base URL>/link/callback` as the redirect address of link pages",
      ],
    ],
  },
  readConfiguration,
  async connector({ name, apiUrl, allowedHosts, consent: codeFlow }, { readJson, unfinished, onLimitReached }) {
    const { nestConnector } = await import("./connector.ts");
    return nestConnector({ name, apiUrl, allowedHosts, codeFlow, readJson, unfinished, onLimitReached });
  },
};
