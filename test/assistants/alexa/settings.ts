import type { AlexaSettings } from "../../../src/assistants/alexa/settings.ts";

export const settings: AlexaSettings = {
  skillId: "amzn1.ask.skill.00000000-0000-4000-8000-000000000001",
  vendorId: "M1VENDOR",
  messagingClientId: "amzn1.application-oa2-client.0123",
  messagingClientSecret: "messaging-secret",
  alarms: "none",
  tokenUrl: "https://api.amazon.com/auth/o2/token",
  gateways: {
    na: "https://api.amazonalexa.com",
    eu: "https://api.eu.amazonalexa.com",
    fe: "https://api.fe.amazonalexa.com",
  },
};
