import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { offerClaim } from "../../src/service/claim-offer.ts";

/** A service whose links are counted, and streams that may be a terminal. */
function made(isTTY: boolean) {
  const state = { hasOperator: false, links: 0 };
  const operators = {
    hasOperators: async () => state.hasOperator,
    claimLink: async () => `bwol_${++state.links}`,
  };
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const output = {
    isTTY,
    write(text: string) {
      written.push(text);
      waiting.shift()?.();
    },
  };
  const nextLine = () => new Promise<void>((resolve) => waiting.push(resolve));
  const input = Object.assign(new PassThrough(), { isTTY });
  const say = (sentence: string) => output.write(`${sentence}\n`);
  return {
    state,
    service: { operators, baseUrl: "https://b.example", say },
    streams: { input, output },
    written,
    nextLine,
  };
}

describe("a service without an operator", () => {
  it("prints the claim link on a terminal, and another at Enter until there is an operator", async () => {
    const { state, service, streams, written, nextLine } = made(true);
    const end = await offerClaim(service, streams);
    assert.match(written[0]!, /https:\/\/b\.example\/console\/claim\/bwol_1/);
    let line = nextLine();
    streams.input.write("\n");
    await line;
    assert.match(written[1]!, /bwol_2/);
    state.hasOperator = true;
    line = nextLine();
    streams.input.write("\n");
    await line;
    assert.match(written[2]!, /Sign in at https:\/\/b\.example\/console/);
    assert.equal(streams.input.listenerCount("data"), 0);
    end();
  });

  it("prints no link where no person reads it", async () => {
    const { state, service, streams, written } = made(false);
    await offerClaim(service, streams);
    assert.equal(state.links, 0);
    assert.deepEqual(written, [
      "There is no operator yet. To open the console, get a link with: breezeway operator claim\n",
    ]);
  });

  it("prints nothing when there is one", async () => {
    const { state, service, streams, written } = made(true);
    state.hasOperator = true;
    await offerClaim(service, streams);
    assert.deepEqual(written, []);
  });
});
