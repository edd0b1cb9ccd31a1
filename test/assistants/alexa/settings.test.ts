import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gatewayRegionOf } from "../../../src/assistants/alexa/regions.ts";
import {
  readSettings,
  redirectUris,
  settingDefinitions,
  setUpEntries,
  shownSettings,
} from "../../../src/assistants/alexa/settings.ts";
import { BadParameter } from "../../../src/model/errors.ts";
import { settings } from "./settings.ts";

const typed = {
  "skill-id": settings.skillId,
  "vendor-id": " M1VENDOR ",
  "messaging-client-id": settings.messagingClientId,
  "messaging-client-secret": settings.messagingClientSecret,
};

describe("the settings of an Alexa outlet", () => {
  it("are read by their options, and leave alarms out by default", () => {
    assert.deepEqual(readSettings(typed), settings);
    assert.equal(readSettings({ ...typed, alarms: "contact" }).alarms, "contact");
    const names = settingDefinitions.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
    assert.deepEqual(names, Object.keys(typed));
  });

  it("may name other addresses, without plain http over the network", () => {
    const [na, eu, fe] = ["http://127.0.0.1:1/na", "http://127.0.0.1:1/eu", "https://fe.example"];
    const other = readSettings({
      ...typed,
      "login-url": "http://localhost:1/token",
      "event-urls": `${na}, ${eu},${fe}/`,
    });
    assert.equal(other.tokenUrl, "http://localhost:1/token");
    assert.deepEqual(other.gateways, { na, eu, fe });
    for (const urls of ["https://one.example", "http://a.example,http://b.example,http://c.example"]) {
      assert.throws(() => readSettings({ ...typed, "event-urls": urls }), BadParameter);
    }
    assert.throws(() => readSettings({ ...typed, "login-url": "http://login.example" }), BadParameter);
  });

  for (const name of [...Object.keys(typed), "alarms", "login-url", "event-urls"]) {
    it(`refuse an unusable --${name}`, () => {
      const isRefused = (error: unknown) => error instanceof BadParameter && error.message.includes(`--${name}`);
      assert.throws(() => readSettings({ ...typed, [name]: "not usable" }), isRefused);
      if (name in typed) assert.throws(() => readSettings({ ...typed, [name]: "" }), isRefused);
    });
  }

  it("are shown without the secret", () => {
    assert.ok(!JSON.stringify(shownSettings(settings)).includes(settings.messagingClientSecret));
  });

  it("register the three redirect addresses of the vendor", () => {
    assert.deepEqual(redirectUris(settings), [
      "https://layla.amazon.com/api/skill/link/M1VENDOR",
      "https://pitangui.amazon.com/api/skill/link/M1VENDOR",
      "https://alexa.amazon.co.jp/api/skill/link/M1VENDOR",
    ]);
  });

  it("print what the consoles ask for", () => {
    const entries = setUpEntries({ baseUrl: "https://b.example", clientId: "bwc_1", clientSecret: "bwcs_1" });
    const values = entries.map(({ value }) => value);
    for (const value of ["https://b.example/alexa/v3/directives", "https://b.example/oauth2/authorize", "bwcs_1"]) {
      assert.ok(values.includes(value), value);
    }
    const later = setUpEntries({ baseUrl: "https://b.example", clientId: "bwc_1" });
    assert.match(later.find(({ field }) => field === "Your Secret")!.value, /client rotate-secret bwc_1/);
  });
});

describe("the region of the event gateway", () => {
  it("follows from the region of the Lambda function", () => {
    assert.deepEqual(["us-east-1", "eu-west-1", "us-west-2"].map(gatewayRegionOf), ["na", "eu", "fe"]);
    for (const other of ["", "eu-central-1", "toString", undefined]) assert.equal(gatewayRegionOf(other), undefined);
  });
});
