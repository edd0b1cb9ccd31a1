import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { AlexaEvent } from "../../src/assistants/alexa/messages.ts";
import { checked } from "../assistants/alexa/checked.ts";

/** Plain JavaScript without types. */
const file = new URL("../../deploy/alexa/index.mjs", import.meta.url).href;

type Handler = (event: object) => Promise<AlexaEvent>;

const directive = {
  header: { namespace: "Alexa", name: "ReportState", payloadVersion: "3", messageId: "m", correlationToken: "corr" },
  endpoint: { endpointId: "t_1", scope: { type: "BearerToken", token: "user-token" } },
  payload: {},
};
const grant = { header: { ...directive.header, namespace: "Alexa.Authorization", name: "AcceptGrant" }, payload: {} };

interface Received {
  readonly path: string;
  readonly body: unknown;
}

/** The function, forwarding to a server with this answer. Undefined: nothing listens. */
async function lambda(t: TestContext, answer?: { readonly status: number; readonly body: string }) {
  const received: Received[] = [];
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? "", body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(answer?.status ?? 500, { "Content-Type": "application/json", Location: "/elsewhere" });
    response.end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  if (answer) t.after(close);
  else await close();
  const logged = t.mock.method(console, "error", () => undefined);
  process.env.DIRECTIVES_URL = `http://127.0.0.1:${port}/alexa/v3/directives`;
  process.env.AWS_REGION = "eu-west-1";
  t.after(() => {
    delete process.env.DIRECTIVES_URL;
    delete process.env.AWS_REGION;
  });
  const { handler } = (await import(file)) as { readonly handler: Handler };
  return { handler, received, logged: () => logged.mock.calls.map(({ arguments: words }) => words.join(" ")) };
}

describe("the Lambda function of the skill", () => {
  it("forwards the directive with its region, and returns the event", async (t) => {
    const { handler, received } = await lambda(t, { status: 200, body: '{"event":{"answer":1}}' });
    assert.deepEqual(await handler({ directive }), { event: { answer: 1 } });
    assert.deepEqual(received, [{ path: "/alexa/v3/directives?region=eu-west-1", body: { directive } }]);
  });

  const failures: readonly (readonly [
    string,
    { readonly status: number; readonly body: string } | undefined,
    string,
  ])[] = [
    ["nothing listens", undefined, "BRIDGE_UNREACHABLE"],
    ["Breezeway fails", { status: 500, body: '{"error":"internal"}' }, "INTERNAL_ERROR"],
    ["Breezeway is busy", { status: 429, body: "{}" }, "RATE_LIMIT_EXCEEDED"],
    ["the answer is no JSON", { status: 200, body: "<html>" }, "BRIDGE_UNREACHABLE"],
    ["the address redirects", { status: 302, body: "" }, "BRIDGE_UNREACHABLE"],
  ];
  for (const [name, answer, type] of failures) {
    it(`answers with an error that Alexa understands when ${name}`, async (t) => {
      const { handler, logged } = await lambda(t, answer);
      const { event } = checked(await handler({ directive }));
      assert.equal(event.header.namespace, "Alexa");
      assert.equal(event.header.name, "ErrorResponse");
      assert.equal(event.header.correlationToken, "corr");
      assert.deepEqual(event.endpoint, { endpointId: "t_1" });
      assert.equal(event.payload.type, type);
      assert.equal(logged().length, 1);
      assert.ok(!logged().join().includes("user-token"));
    });
  }

  it("ends the linking when the grant can't be forwarded", async (t) => {
    const { handler } = await lambda(t);
    const { event } = checked(await handler({ directive: grant }));
    assert.equal(`${event.header.namespace} ${event.payload.type}`, "Alexa.Authorization ACCEPT_GRANT_FAILED");
  });
});
