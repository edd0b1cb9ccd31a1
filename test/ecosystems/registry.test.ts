import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UnfinishedMessages } from "../../src/ecosystems/kit/unfinished-messages.ts";
import type { Protocol } from "../../src/ecosystems/protocol.ts";
import { connectorOf, protocols, readEcosystem } from "../../src/ecosystems/registry.ts";
import { InvalidSetting } from "../../src/model/setting-checks.ts";
import { readJsonHere } from "../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";

const parts = {
  runtime: manualRuntime(),
  readJson: readJsonHere,
  unfinished: new UnfinishedMessages(),
  onLimitReached: () => undefined,
};

describe("the registry of protocols", () => {
  it("names each protocol once", () => {
    const names = protocols.map(({ protocol }) => protocol);
    assert.deepEqual([...new Set(names)], names);
  });

  for (const settings of [{}, { protocol: "zigbee" }, { protocol: 1 }]) {
    it(`refuses ${JSON.stringify(settings)} with the protocols that are known`, () => {
      assert.throws(
        () => readEcosystem("a", settings),
        (error) =>
          error instanceof InvalidSetting &&
          error.message === 'must say "protocol": "nest" or "home-assistant" or "google-device-access" for a',
      );
    });
  }

  it("refuses an unknown protocol with all known ones, and asks the named one to read its settings", () => {
    const read: unknown[] = [];
    const second: Protocol = {
      ...protocols[0]!,
      protocol: "second",
      readConfiguration(name, settings) {
        read.push(settings);
        return { name, protocol: "second" };
      },
    };
    const known = [protocols[0]!, second];
    assert.throws(
      () => readEcosystem("a", { protocol: "third" }, known),
      (error: Error) => error.message === 'must say "protocol": "nest" or "second" for a',
    );
    const settings = { protocol: "second", own: 1 };
    assert.deepEqual(readEcosystem("a", settings, known), { name: "a", protocol: "second" });
    assert.deepEqual(read, [settings]);
  });

  it("has an example for each protocol, which the protocol itself reads and builds a connector from", async () => {
    for (const { protocol, page } of protocols) {
      const { name, settings } = page.example;
      const configuration = readEcosystem(name, settings);
      assert.deepEqual([configuration.name, configuration.protocol], [name, protocol]);
      const connector = await connectorOf(configuration, parts);
      assert.equal(connector.name, name);
      assert.deepEqual(Object.keys(JSON.parse(page.shortExample)), [name]);
    }
  });

  it("builds no connector for a protocol that is not registered", () => {
    assert.throws(
      () => connectorOf({ name: "a", protocol: "zigbee" }, parts),
      /The ecosystem a has the protocol zigbee, which is not registered/,
    );
  });
});

describe("the settings of a Google project", () => {
  const { settings } = protocols.find(({ protocol }) => protocol === "google-device-access")!.page.example;
  const wrong: readonly (readonly [object, string])[] = [
    [{ projectId: undefined }, "must give a text as projectId of a, the id of the Device Access project"],
    [
      { subscription: "breezeway" },
      "must give a text as subscription of a, such as projects/my-project/subscriptions/my-subscription",
    ],
    [{ clientSecret: 1 }, "must give a text as clientSecret of a"],
    [
      { serviceAccountFile: "" },
      "must give a text as serviceAccountFile of a, the path of the service account's key file",
    ],
    [{ minCelsius: "9" }, "must give a number from 0 to 50 as minCelsius of a"],
    [{ minCelsius: 32 }, "must give a minCelsius below the maxCelsius of a"],
    [{ pubsubUrl: "ftp://a.example" }, "must begin with http:// or https://"],
  ];
  for (const [changed, sentence] of wrong) {
    it(`are refused when they are ${JSON.stringify(changed)}`, () => {
      assert.throws(
        () => readEcosystem("a", { ...settings, projectId: "p-1", ...changed }),
        (error) => error instanceof InvalidSetting && error.message === sentence,
      );
    });
  }
});

describe("the settings of an ecosystem", () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{}, "must give an address as apiUrl of a"],
    [{ apiUrl: "breeze" }, 'is "breeze", which is not an address'],
    [{ apiUrl: "ftp://a.example" }, "must begin with http:// or https://"],
    [
      { apiUrl: "https://a.example", allowedHosts: [1] },
      'must give a list of "host" or "host:port" as allowedHosts of a',
    ],
    [
      { apiUrl: "https://a.example", clientId: "c" },
      "must give authUrl, tokenUrl, clientId, clientSecret together, as texts; authUrl of a is missing",
    ],
  ];
  for (const [settings, sentence] of wrong) {
    it(`are refused when they are ${JSON.stringify(settings)}`, () => {
      assert.throws(
        () => readEcosystem("a", { protocol: "nest", ...settings }),
        (error) => error instanceof InvalidSetting && error.message === sentence,
      );
    });
  }
});
