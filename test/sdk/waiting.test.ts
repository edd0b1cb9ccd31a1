import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway, NotSignedIn } from "../../sdk/src/index.ts";
import { json } from "./sdk-world.ts";

const baseUrl = "http://home.example";

describe("waiting in the SDK", () => {
  it("ends, and a refused stream is opened again, although the text of the refusal never ends", {
    timeout: 20_000,
  }, async () => {
    const { fetch, answered } = answering((signal) => endlessRefusal(signal), accessEnded);
    const client = new Breezeway({ baseUrl, accessToken: "t", fetch, timeoutMs: 1_000 });
    const reasons: unknown[] = [];
    const events = client.events({ onDisconnected: (reason) => reasons.push(reason) });
    await assert.rejects(events.next(), NotSignedIn);
    assert.equal(answered(), 2);
    assert.match(String(reasons[0]), /No answer came within 1000 ms/);
  });

  it("of a stream does not end at once, and ask again and again when Retry-After is longer than a timer can be", async () => {
    const stop = new AbortController();
    const refusal = () => {
      setTimeout(() => stop.abort(), 200);
      return json(503, { error: "store_unavailable" }, { "retry-after": "99999999" });
    };
    const { fetch, answered } = answering(refusal, refusal, refusal);
    const client = new Breezeway({ baseUrl, accessToken: "t", fetch });
    await client.events({ signal: stop.signal }).next();
    assert.equal(answered(), 1);
  });

  it("has no limit when the limit is infinite", async () => {
    const { fetch } = answering(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return json(200, { webhooks: [] });
    });
    const client = new Breezeway({ baseUrl, accessToken: "t", fetch, timeoutMs: Number.POSITIVE_INFINITY, retries: 0 });
    assert.deepEqual(await client.webhooks.list(), []);
  });
});

const accessEnded = () => json(401, { error: "invalid_token", error_description: "The access token has ended." });

/** A refusal whose head arrives, but never the end of its body: a proxy hangs. */
function endlessRefusal(signal: AbortSignal): Response {
  const body = new ReadableStream({
    start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
  });
  return new Response(body, { status: 503 });
}

type Answering = (signal: AbortSignal) => Response | Promise<Response>;

/** A fake fetch with one answer for each request, which ends with the request's signal as the real one. */
function answering(...answers: readonly Answering[]) {
  let count = 0;
  const fake = async (_: unknown, { signal }: RequestInit) => {
    count += 1;
    return new Promise<Response>((resolve, reject) => {
      signal!.addEventListener("abort", () => reject(signal!.reason), { once: true });
      Promise.resolve(answers[count - 1]!(signal!)).then(resolve, reject);
    });
  };
  return { fetch: fake as typeof fetch, answered: () => count };
}
