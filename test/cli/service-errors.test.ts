import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { Api } from "../../src/cli/remote/api.ts";

/** An address that answers like this, and the calls of a command there: a read and a write of device 7. */
async function calls(t: TestContext, answer: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(String(request.method));
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens = { current: async () => "tok_1", renewed: async () => undefined, secToken: async () => "sec_1" };
  const api = new Api({ baseUrl, nextStep: "Do this.", ...tokens });
  const failed = (call: Promise<unknown>) =>
    call.then(
      () => assert.fail("the call did not fail"),
      (error: Error) => `${exitCodeOf(error)} ${error.message.replaceAll(baseUrl, "URL")}`,
    );
  return {
    requests,
    read: (withinMs?: number) => failed(api.getDevice(7, {}, withinMs)),
    write: () => failed(api.write((sdk) => sdk.setDeviceAttribute(7, "power", "on"), 7)),
    link: () => failed(api.asUser((sdk) => sdk.updateFederatedToken("nest", "eco_1"), { isWrite: true })),
  };
}

const json =
  (status: number, body: object): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

describe("a command whose call fails", () => {
  it("prints the service's sentence, names the device, and ends with the exit code of the refusal", async (t) => {
    const unknown = await calls(t, json(404, { error: "unknown_device", error_description: "This device is gone." }));
    assert.equal(await unknown.read(), "5 Device 7 is gone.");
    const readOnly = json(403, { error: "read_only_attribute", error_description: "Only the ecosystem sets it." });
    assert.equal(await (await calls(t, readOnly)).write(), "2 Only the ecosystem sets it.");
    const refused = json(422, { errorCode: 121, errorMessage: "nest refused the token." });
    assert.equal(await (await calls(t, refused)).link(), "4 nest refused the token.");
  });

  it("prints the next step when the service refuses the token", async (t) => {
    const ended = await calls(t, json(401, { error: "invalid_token", error_description: "It has ended." }));
    assert.equal(await ended.read(), "4 It has ended. Do this.");
  });

  it("calls once: a failure is reported, not tried again", async (t) => {
    const busy = await calls(t, json(503, { error: "store_unavailable", error_description: "Later." }));
    assert.equal(await busy.read(), "6 Later.");
    assert.equal(await busy.write(), "6 Later.");
    assert.deepEqual(busy.requests, ["GET", "PUT"]);
  });

  it("prints the status when a proxy answers in the place of the service", async (t) => {
    const html: (status: number) => RequestListener = (status) => (_, response) =>
      response.writeHead(status).end("<html>no</html>");
    assert.equal(await (await calls(t, html(502))).read(), "1 The service at URL answered 502.");
    assert.equal(await (await calls(t, html(404))).read(), "5 The service at URL answered 404.");
    assert.match(await (await calls(t, html(200))).read(), /^1 URL does not answer as Breezeway does\. /);
  });

  it("prints where a redirect leads, and does not follow it", async (t) => {
    const moved = await calls(t, (_, response) => response.writeHead(307, { location: "https://b.example/x" }).end());
    assert.match(await moved.read(), /^2 URL answered with a redirect to https:\/\/b\.example\. It was not followed/);
  });

  it("prints that nothing answers; after a write, that the change may have been made", async (t) => {
    const frozen = await calls(t, () => undefined);
    assert.match(await frozen.read(200), /^6 Nothing answers at URL \(No answer came within 200 ms\)\. /);
    const broken = await calls(t, (request) => request.destroy());
    assert.match(await broken.read(), /^6 Nothing answers at URL \(\S.*\)\. /);
    assert.match(await broken.write(), /^6 The connection to URL broke before it answered \(.*\)\. The change may/);
  });
});
