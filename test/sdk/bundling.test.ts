import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { browserOfFile, skip } from "../browser/world.ts";
import { bundlers } from "./bundlers.ts";
import { installedSdk } from "./installed-sdk.ts";
import { sdkWorld } from "./sdk-world.ts";

/** Reads a device and begins a sign-in, which needs crypto: Node and browsers have it in different places. */
const app = `import { Breezeway, OAuthClient } from "@breezeway/sdk";

window.app = async ({ baseUrl, accessToken, deviceId }) => {
  const { attributes } = await new Breezeway({ baseUrl, accessToken }).getDevice(deviceId);
  const { url } = await new OAuthClient({ baseUrl, clientId: "c", clientSecret: "s" }).begin();
  return { power: attributes.power.value, hasChallenge: new URL(url).searchParams.has("code_challenge") };
};
`;

const browser = browserOfFile();

describe("the SDK in a page's bundle", { skip }, () => {
  it("works with every bundler, without options and without warnings", { timeout: 120_000 }, async (t) => {
    const bundles = new Map<string, string>();
    const origin = await bundleSite(t, bundles);
    const [world, { project }] = await Promise.all([sdkWorld(t, { corsOrigins: [origin] }), installedSdk(t)]);
    writeFileSync(join(project, "app.js"), app);
    const deviceId = await world.addLamp();
    await world.byAccessToken.setDeviceAttribute(deviceId, "power", "on");
    const { accessToken } = world.store.tokens!;
    const call = JSON.stringify({ baseUrl: world.baseUrl, accessToken, deviceId });
    const context = await browser().newContext();
    t.after(() => context.close());
    for (const [name, bundle] of Object.entries(bundlers)) {
      await t.test(name, async () => {
        const folder = join(project, name);
        mkdirSync(folder);
        const { file, warnings } = await bundle(project, folder);
        assert.deepEqual(warnings, []);
        const code = readFileSync(file, "utf8");
        bundles.set(name, code);
        const tab = await context.newPage();
        const errors: string[] = [];
        tab.on("pageerror", (error) => errors.push(String(error)));
        await tab.goto(`${origin}/${name}`);
        await tab.waitForFunction("window.app").catch((error) => assert.fail(`${error}\n${errors.join("\n")}`));
        assert.deepEqual(await tab.evaluate(`app(${call})`), { power: "on", hasChallenge: true });
        await tab.close();
      });
    }
  });
});

/** A page for each bundle, on another origin than the service. */
async function bundleSite(t: TestContext, bundles: ReadonlyMap<string, string>): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const [, name = "", file] = url.split("/");
    const code = bundles.get(name);
    if (code === undefined) return void response.writeHead(404).end();
    const page = `<!doctype html><title>App</title><script type="module" src="/${name}/bundle.js"></script>`;
    const type = file ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": type }).end(file ? code : page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
