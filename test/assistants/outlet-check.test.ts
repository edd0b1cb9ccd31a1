import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startAmazon } from "../../simulator/alexa/simulator.ts";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import type { CheckedFact } from "../../src/assistants/assistant.ts";
import { folderOf } from "../cli/made-folder.ts";
import { typed } from "../cli/typed.ts";
import { world } from "../stories/world.ts";
import { settingsFor as alexaSettings } from "./alexa/alexa-world.ts";
import { settingsFor as googleSettings } from "./google-world.ts";

type Settings = Readonly<Record<string, string>>;

/** A service, and `outlet check` of an outlet that is added with these settings. */
async function checking(t: TestContext) {
  const { administration } = (await world(t)).service.parts;
  return async (kind: string, settings: Settings) => {
    const { outlet } = (await administration.run("outlet add", { tenant: "Story", kind, settings })) as {
      readonly outlet: string;
    };
    const answer = await administration.run("outlet check", { outlet });
    const { isRight, facts } = answer as { readonly isRight: boolean; readonly facts: readonly CheckedFact[] };
    const wrong = facts.filter((fact) => !fact.isRight);
    assert.equal(isRight, wrong.length === 0);
    assertNoSecret(JSON.stringify(facts), settings);
    return { facts: facts.map(({ fact }) => fact), wrong: wrong.map(({ fact, text }) => `${fact}: ${text}`) };
  };
}

function assertNoSecret(text: string, settings: Settings): void {
  assert.doesNotMatch(text, /ya29\.|Atz[ar]\||PRIVATE KEY/);
  const secret = settings["messaging-client-secret"];
  if (secret) assert.ok(!text.includes(secret));
}

describe("outlet check", () => {
  it("exits with 1 when a fact is wrong, and with 0 when all are right", async (t) => {
    const graph = await HomeGraph.start();
    t.after(() => graph.stop());
    const folder = folderOf(t);
    const keyFile = join(folder, "key.json");
    writeFileSync(keyFile, graph.serviceAccountFile);
    const environment = { BREEZEWAY_DATA: join(folder, "data"), BREEZEWAY_LOG_LEVEL: "silent" };
    const breezeway = (...args: readonly string[]) => typed(args, { environment, columns: 200 });
    await breezeway("tenant", "add", "--name", "Acme");
    const options = ["--tenant", "Acme", "--project-id", "acme-home", "--service-account", keyFile];
    const added = await breezeway("outlet", "add", "google-home", ...options, "--home-graph-url", graph.url, "--json");
    const { outlet } = added.json;
    const right = await breezeway("outlet", "check", outlet);
    assert.equal(right.code, 0);
    assert.match(right.out, /^ok {4}service account .*\nok {4}Home Graph /);
    graph.inject({ method: "query", status: 403 });
    const wrong = await breezeway("outlet", "check", outlet);
    assert.equal(wrong.code, 1);
    assert.match(wrong.out, /\nwrong Home Graph .*Enable the HomeGraph API/);
    const asJson = await breezeway("outlet", "check", outlet, "--json");
    assert.deepEqual([asJson.code, asJson.json.isRight], [1, false]);
  });

  it("proves a service account and its right to call Home Graph", async (t) => {
    const check = await checking(t);
    const graph = await HomeGraph.start();
    t.after(() => graph.stop());
    const right = googleSettings(graph);
    assert.deepEqual(await check("google-home", right), { facts: ["service account", "Home Graph"], wrong: [] });

    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
    const file = JSON.stringify({ ...JSON.parse(graph.serviceAccountFile), private_key });
    const { wrong: ofKey } = await check("google-home", { ...right, "service-account": file });
    assert.equal(ofKey.length, 1);
    assert.match(ofKey[0]!, /^service account: .*400 invalid_grant\. Download a new key/);

    const allow = graph.inject({ method: "query", status: 403 });
    const { wrong: ofRight } = await check("google-home", right);
    allow();
    assert.equal(ofRight.length, 1);
    assert.match(ofRight[0]!, /^Home Graph: .*403.*Enable the HomeGraph API/);

    const heal = graph.inject({ method: "query", isDown: true });
    const { wrong: ofGraph } = await check("google-home", right);
    heal();
    assert.match(ofGraph[0]!, /^Home Graph: .*Check that this machine reaches Google/);

    await graph.stop();
    const { wrong: ofAddress } = await check("google-home", right);
    assert.equal(ofAddress.length, 1);
    assert.match(ofAddress[0]!, /^service account: no token .*Check that this machine reaches Google/);
  });

  it("proves the messaging credentials of a skill, and that every event gateway answers", async (t) => {
    const check = await checking(t);
    const amazon = await startAmazon();
    t.after(() => amazon.stop());
    const right = alexaSettings(amazon);
    const facts = ["messaging credentials", "event gateway na", "event gateway eu", "event gateway fe"];
    assert.deepEqual(await check("alexa", right), { facts, wrong: [] });

    const { wrong: ofSecret } = await check("alexa", { ...right, "messaging-client-secret": "another-secret" });
    assert.equal(ofSecret.length, 1);
    assert.match(ofSecret[0]!, /^messaging credentials: .*Copy both again/);

    await amazon.stop();
    const { wrong: ofAddress } = await check("alexa", right);
    assert.deepEqual(
      ofAddress.map((text) => text.split(":")[0]),
      facts,
    );
    for (const text of ofAddress) assert.match(text, /Check that this machine reaches it/);
  });
});
