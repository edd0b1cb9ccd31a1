import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

describe("a command that sends a secret", () => {
  const secrets = {
    "an access token": [],
    "a password": ["--login", "ada", "--app-id", "7"],
    "a client secret": ["--client", "bwc_1"],
  } as const;
  for (const [secret, flags] of Object.entries(secrets)) {
    it(`sends ${secret} only to the named address`, async (t) => {
      const stranger = await listening(t, () => undefined);
      const service = await listening(t, () => `${stranger.url}/elsewhere`);
      const environment = { XDG_CONFIG_HOME: folderOf(t) };
      const args = ["profile", "add", "home", "--url", service.url, ...flags];
      const { code, err } = await typed(args, { environment, input: "the-secret\n" });
      assert.equal(code, 2);
      assert.ok(err.includes(`${service.url} answered with a redirect to ${stranger.url}. It was not followed`), err);
      assert.equal(service.requests.length, 1);
      assert.deepEqual(stranger.requests, []);
    });
  }
});

/** A server that redirects each request with 307, which keeps method and body, to the target. */
async function listening(t: TestContext, target: () => string | undefined) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(String(request.url));
    const location = target();
    response.writeHead(location ? 307 : 200, location ? { location } : {}).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
