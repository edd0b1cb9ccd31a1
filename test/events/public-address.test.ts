import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { postWith } from "../../src/events/webhooks/post.ts";
import { isPublic, reachableAddresses } from "../../src/runtime/network/public-address.ts";

describe("a public address", () => {
  it("is never private, local or ambiguous", () => {
    const inside = [
      ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1"],
      ...["172.31.255.255", "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"],
      ...[
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "ff02::1",
        "64:ff9b::7f00:1",
      ],
      ...["2002:7f00:1::", "2001:db8::1", "2001::1", "not an address", ""],
    ];
    assert.deepEqual(inside.filter(isPublic), []);
    const outside = [
      "1.1.1.1",
      "8.8.8.8",
      "172.15.0.1",
      "172.32.0.1",
      "100.128.0.1",
      "2606:4700::1111",
      "2a00:1450::1",
    ];
    assert.deepEqual(outside.filter(isPublic), outside);
  });

  it("is every address that the name has, not just one", async (t) => {
    const named = (...addresses: string[]) => {
      const resolve = async () => addresses.map((address) => ({ address, family: 4 }));
      return reachableAddresses("example.com", { resolve, allowsPrivate: false }, t.signal);
    };
    assert.equal((await named("8.8.8.8", "1.1.1.1")).length, 2);
    await assert.rejects(named("8.8.8.8", "127.0.0.1"), { name: "NotReachable" });
    await assert.rejects(named(), { name: "NotReachable" });
  });
});

describe("a message to a name", () => {
  it("goes to a checked address, and nowhere when the name becomes private", { timeout: 30_000 }, async (t) => {
    let calls = 0;
    const server = createServer((_, response) => {
      calls++;
      response.end();
    }).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const asked: string[] = [];
    const options = {
      resolve: async (host: string) => {
        asked.push(host);
        return [{ address: "127.0.0.1", family: 4 }];
      },
      allowsPrivate: false,
      userAgent: "test",
    };
    const post = postWith(options);
    const attempt = await post(`http://changed.example:${port}/`, {}, "{}", t.signal);
    assert.deepEqual(attempt, {
      status: null,
      text: "the host could not be resolved to an address that may be called",
    });
    assert.deepEqual(await post(`http://127.0.0.1:${port}/`, {}, "{}", t.signal), attempt);
    assert.deepEqual([asked, calls], [["changed.example"], 0]);
    const anywhere = postWith({ ...options, allowsPrivate: true });
    assert.equal((await anywhere(`http://127.0.0.1:${port}/`, {}, "{}", t.signal)).status, 200);
  });
});
