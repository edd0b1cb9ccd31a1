import type { Protocol } from "../protocol.ts";
import { type GoogleConfiguration, protocol, readConfiguration } from "./configuration.ts";

/** Google Device Access: REST, and one feed of events for all accounts of a project. */
export const googleDeviceAccess: Protocol<GoogleConfiguration> = {
  protocol,
  consent: "code",
  isGoogles: () => true,
  page: {
    shortExample: '{"google":{"protocol":"google-device-access","projectId":"…","clientId":"…","…":"…"}}',
    example: {
      name: "google",
      settings: {
        protocol,
        projectId: "32c4c2bc-fe0d-461b-b51c-f3885afff2f0",
        clientId: "<OAuth client id>",
        clientSecret: "<OAuth client secret>",
        subscription: "projects/my-project/subscriptions/breezeway",
        serviceAccountFile: "/etc/breezeway/service-account.json",
      },
    },
    members: [
      ["`projectId`", "the id of the project in the Device Access Console"],
      ["`clientId`, `clientSecret`", "the OAuth client of that project"],
      [
        "`subscription`",
        "the Pub/Sub subscription with the project's events, `projects/{project}/subscriptions/{name}`",
      ],
      ["`serviceAccountFile`", "the key file of a service account that may pull this subscription"],
      ["`minCelsius`, `maxCelsius`", "the range of targets; thermostats do not tell theirs. Default: 9 and 32"],
      [
        "`apiUrl`, `authUrl`, `tokenUrl`, `revokeUrl`, `pubsubUrl`",
        "other addresses than Google's, such as those of the simulator",
      ],
    ],
  },
  readConfiguration,
  async connector(configuration, { runtime, readJson, unfinished }) {
    const { jsonCaller } = await import("../kit/json-call.ts");
    const { googleConnector } = await import("./connector.ts");
    return googleConnector({ configuration, runtime, call: jsonCaller(readJson, unfinished) });
  },
};
