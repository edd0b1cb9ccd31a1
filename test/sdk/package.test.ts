import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { installedSdk, root } from "./installed-sdk.ts";

/** Uses the SDK's public types in strict mode. */
const consumer = `
import {
  type Authorization, type BatchAnswer, Breezeway, ClientTokens, type FanOutcome, type HomeEvent, NotSignedIn, OAuthClient,
  type ThingTrait, TokenKeeper, type Tokens, verifyWebhook,
} from "@breezeway/sdk";

let tokens: Tokens | undefined;
const oauth = new OAuthClient({ baseUrl: "https://a.example", clientId: "c", clientSecret: "s" });
const accessToken = new TokenKeeper(oauth, { load: () => tokens, save: (fresh) => { tokens = fresh; } });
export const home = new Breezeway({ baseUrl: "https://a.example", accessToken });
export const authorization: Promise<Authorization> = oauth.begin();
export async function use(signal: AbortSignal): Promise<string> {
  home.updateFederatedToken("nest", "t", ({ deviceId }) => void deviceId.toFixed(), (error: unknown) => void error);
  const { deviceId } = await home.updateFederatedToken("nest", "t", { signal });
  await home.addTrigger({ initWithDeviceId: deviceId, attributeName: "a", operation: "equals", stringThreshold: "b" });
  await home.addTrigger({ deviceId, attrName: "a", operation: "regex", stringThreshold: "b" });
  // @ts-expect-error An alert needs its attribute.
  home.addTrigger({ deviceId, operation: "equals" }).catch(() => undefined);
  const outcome: FanOutcome = await home.runFan(deviceId, "d.structures[1].d.thermostats[1]", { signal });
  if (!outcome.done) return outcome.error.message;
  for await (const event of home.events({ signal, lastEventId: undefined })) told(event);
  for await (const { thingId, stale, goneTime } of home.things({ kind: "alarm", signal })) {
    const { traits } = await home.thing(thingId, { since: goneTime });
    Object.values(traits).flatMap(({ state }: ThingTrait) => Object.values(state).map(({ value }) => value));
    const { smoke } = traits;
    const state: string | number | boolean | null | undefined = smoke?.state.state?.value;
    // @ts-expect-error A smoke alarm has no brightness.
    if (smoke?.state.brightness === undefined && !stale) return String(state);
  }
  const { state, error } = await home.command("t_1", "thermostat", "setTarget", { celsius: 20 }, { signal, waitMs: 0 });
  if (state === "rejected" && error?.code === "outOfRange") return error.text + String(error.min);
  await home.command("t_1", "fanTimer", "stop");
  // @ts-expect-error The mode is missing.
  await home.command("t_1", "thermostat", "setMode").catch(() => undefined);
  // @ts-expect-error A thermostat has no such mode.
  await home.command("t_1", "thermostat", "setMode", { mode: "warm" }).catch(() => undefined);
  const { attributes } = await home.getDevice(deviceId);
  const value: string | number | null | undefined = attributes["a"]?.value;
  return String(value);
}
function told(event: HomeEvent): number {
  switch (event.type) {
    case "attribute": case "thing": return event.updateTime;
    case "resync": return event.reason === "too_slow" ? 1 : 0;
    case "heartbeat": case "link": case "command": case "thingCommand": case "alert": case "device": case "linkSession": return event.time;
  }
}
export const company = new Breezeway({ baseUrl: "https://a.example", accessToken: new ClientTokens(oauth) });
export const outcome = (answer: BatchAnswer): string | number =>
  answer.status === 201 ? answer.deviceId : answer.status === 404 ? answer.error : answer.error_description;
export async function heard(headers: Headers, body: string): Promise<unknown> {
  const { id, type, data } = await verifyWebhook("whsec_", { headers, body });
  switch (type) {
    case "attribute": return data.attributes["power"];
    case "thing": return data.things.map(({ fields }) => fields["smoke.state"]?.value);
    case "thingCommand": return data.writes;
    case "alert": return [data.time, data["alertId"]];
    case "resync": return data.reason === "restored" ? id : undefined;
    case "link": case "linkSession": case "command": case "device": return data.deviceId;
  }
}
export const isOver = (error: unknown): boolean => error instanceof NotSignedIn && error.status === 401;
`;

const strict = {
  ...{
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  },
  ...{ noPropertyAccessFromIndexSignature: true, noImplicitReturns: true, verbatimModuleSyntax: true },
};

describe("the package", () => {
  it("passes publint and attw, installs in an empty project, and has strict types", {
    timeout: 120_000,
  }, async (t) => {
    const { tarball, project, run } = await installedSdk(t);
    const packed = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.length) as ArrayBuffer },
      strict: true,
    });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg!)),
      [],
    );
    const types = await checkPackage(createPackageFromTarballData(new Uint8Array(packed)));
    assert.ok(types.types);
    // The package is an ES module for CommonJS too, on purpose: Node 22 can require it.
    assert.deepEqual(
      types.problems.filter(({ kind }) => kind !== "CJSResolvesToESM"),
      [],
    );

    const own = JSON.parse(readFileSync(join(root, "sdk/package.json"), "utf8"));
    const installed = JSON.parse(readFileSync(join(project, "node_modules/@breezeway/sdk/package.json"), "utf8"));
    assert.deepEqual([installed.version, installed.license], [own.version, own.license]);
    assert.equal(installed.dependencies, undefined);

    const script = `import("@breezeway/sdk").then(({ Breezeway }) => {
      console.log(typeof new Breezeway({ baseUrl: "https://a.example" }).runFan, process.version);
    })`;
    for (const node of new Set([process.execPath, "node"]))
      assert.match(await run(node, "-e", script), /^function v\d+/);

    writeFileSync(join(project, "consumer.ts"), consumer);
    await mkdir(join(project, "node_modules/@types"));
    symlinkSync(join(root, "node_modules/@types/node"), join(project, "node_modules/@types/node"));
    symlinkSync(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
    const variants = {
      node: { module: "nodenext", moduleResolution: "nodenext", target: "es2022", lib: ["es2022"], types: ["node"] },
      page: { module: "esnext", moduleResolution: "bundler", target: "es2022", lib: ["es2022", "dom"], types: [] },
    };
    for (const [name, options] of Object.entries(variants)) {
      const file = `tsconfig.${name}.json`;
      writeFileSync(
        join(project, file),
        JSON.stringify({ compilerOptions: { ...strict, ...options }, files: ["consumer.ts"] }),
      );
      await run(join(root, "node_modules/.bin/tsc"), "-p", file);
    }
  });
});
