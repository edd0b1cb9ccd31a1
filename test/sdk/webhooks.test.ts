import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { describe, it } from "node:test";
import { Breezeway, InvalidArgument, InvalidSignature, verifyWebhook } from "../../sdk/src/index.ts";
import { signedHeaders } from "../../src/events/webhooks/signature.ts";
import { home, write } from "../events/made-home.ts";
import { type Received, receiver } from "../events/receiver.ts";

type Request = Pick<Received, "headers" | "body">;

const document = readFileSync(new URL("../../docs/interface.md", import.meta.url), "utf8");
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const body = JSON.stringify({ type: "resync", timestamp: "2026-03-01T09:30:00.000Z", data: { reason: "restored" } });
const signedAt = (nowMs: number) => ({ headers: signedHeaders(secret, { id: "msg_1", body }, nowMs), body });

/** Requests that a receiver must refuse, and why. */
const forgeries: Readonly<Record<string, (genuine: Request) => Request>> = {
  "another body": ({ headers, body }) => ({ headers, body: `${body} ` }),
  "another id": ({ headers, body }) => ({ headers: { ...headers, "webhook-id": "msg_2" }, body }),
  "the signature of another secret": ({ body }) => ({
    headers: signedHeaders(`whsec_${btoa("another secret")}`, { id: "msg_1", body }, Date.now()),
    body,
  }),
  "an old message": () => signedAt(Date.now() - 301_000),
  "a message from the future": () => signedAt(Date.now() + 3_600_000),
  "a malformed time": ({ headers, body }) => ({ headers: { ...headers, "webhook-timestamp": "now" }, body }),
  "a malformed signature": ({ headers, body }) => ({
    headers: { ...headers, "webhook-signature": "v1,ü v1, é" },
    body,
  }),
  "no signature": ({ headers: { "webhook-signature": _, ...headers }, body }) => ({ headers, body }),
  "no headers": ({ body }) => ({ headers: {}, body }),
};

describe("a webhook's message", () => {
  it("is verified by the SDK and by the recipes of the documents", async (t) => {
    const { world, token, lamp } = await home(t, { environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } });
    const hook = await receiver(t);
    const { webhooks } = new Breezeway({ baseUrl: world.baseUrl, accessToken: token });
    const { secret } = await webhooks.add({ url: hook.url });
    await write(world, token, lamp, { colour: "grün" });
    await hook.until(1);
    const { headers, body } = hook.received[0]!;
    const message = await verifyWebhook(secret, { headers, body });
    assert.equal(message.id, headers["webhook-id"]);
    assert.ok(message.type === "attribute");
    assert.deepEqual([message.data.deviceId, message.data.attributes], [lamp, { colour: "grün" }]);
    assert.equal((await typescriptRecipe()).isGenuine(secret, headers, body), true);
    if (!missingPython()) assert.deepEqual(runPythonRecipe(secret, [{ headers, body }]), [true]);
  });

  it("is accepted with any of several signatures, and with the headers of `fetch`", async () => {
    const { headers } = signedAt(Date.now());
    const several = { ...headers, "webhook-signature": `v1a,x v1,AAAA ${headers["webhook-signature"]}` };
    const data = { reason: "restored" };
    for (const sent of [several, new Headers(several)]) {
      assert.deepEqual((await verifyWebhook(secret, { headers: sent, body })).data, data);
    }
    assert.equal((await typescriptRecipe()).isGenuine(secret, several, body), true);
  });

  it("is refused by the SDK and by the recipe in TypeScript if it is forged or old", async () => {
    const { isGenuine } = await typescriptRecipe();
    for (const [name, forge] of Object.entries(forgeries)) {
      const request = forge(signedAt(Date.now()));
      await assert.rejects(verifyWebhook(secret, request), InvalidSignature, name);
      assert.equal(isGenuine(secret, request.headers, request.body), false, name);
    }
    const genuine = signedAt(Date.now());
    for (const wrong of ["", "whsec_", "whsec_é", secret.slice(6)]) {
      await assert.rejects(verifyWebhook(wrong, genuine), InvalidArgument);
    }
  });

  it("is refused by the recipe in Python if it is forged or old", { skip: missingPython() }, () => {
    const genuine = signedAt(Date.now());
    const requests = [genuine, ...Object.values(forgeries).map((forge) => forge(genuine))];
    assert.deepEqual(runPythonRecipe(secret, requests), [true, ...Object.keys(forgeries).map(() => false)]);
  });
});

/** The code of the section *Verify a message* of docs/interface.md. */
function recipe(language: string, name: string): string {
  const blocks = [...document.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const [, , code] = blocks.find(([, found, text]) => found === language && text!.includes(name)) ?? [];
  assert.ok(code, `docs/interface.md has no ${name}`);
  return code;
}

async function typescriptRecipe() {
  const code = stripTypeScriptTypes(recipe("ts", "isGenuine"));
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

function missingPython(): string | false {
  return spawnSync("python3", ["--version"]).error ? "python3 is not installed" : false;
}

/** Whether the recipe accepts each of the requests. */
function runPythonRecipe(secret: string, requests: readonly Request[]): readonly boolean[] {
  const program = `${recipe("python", "is_genuine")}
import json, sys
secret, requests = json.load(sys.stdin)
print(json.dumps([is_genuine(secret, request["headers"], request["body"].encode()) for request in requests]))`;
  const { stdout, stderr } = spawnSync("python3", ["-c", program], {
    input: JSON.stringify([secret, requests]),
    encoding: "utf8",
  });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
}
