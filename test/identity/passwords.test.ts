import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PasswordOptions, passwords } from "../../src/identity/passwords.ts";
import { ClientGone, TooManyRequests } from "../../src/model/errors.ts";
import type { LimitName } from "../../src/model/limits.ts";

const here = { source: "192.0.2.1" };

describe("a password", () => {
  it("is stored as argon2id with its parameters, salted each time", async () => {
    const { hash, isRight } = passwords();
    const [one, other] = await Promise.all([hash("correct horse"), hash("correct horse")]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(one, other);
    assert.equal(await isRight("correct horse", one, here), true);
    assert.equal(await isRight("correct hors", one, here), false);
  });

  it("is still accepted when it was hashed with other parameters", async () => {
    const { hash } = await import("@node-rs/argon2");
    const old = await hash("correct horse", { memoryCost: 8_192, timeCost: 3 });
    assert.equal(await passwords().isRight("correct horse", old, here), true);
  });

  it("is checked at the same cost when there is no such user", async () => {
    const verified: string[] = [];
    const { hash, isRight } = passwords(
      recording((stored) => {
        verified.push(stored);
        return Promise.resolve(true);
      }),
    );
    const stored = await hash("correct horse");
    assert.equal(await isRight("correct horse", stored, here), true);
    assert.equal(await isRight("correct horse", undefined, here), false);
    const costOf = (text: string) => text.split("$").slice(0, 4).join("$");
    assert.equal(verified.length, 2);
    assert.equal(costOf(verified[0]!), costOf(verified[1]!));
    assert.equal(verified[0]!.length, verified[1]!.length);
  });

  it("waits for its turn: two are hashed at once, in the order of arrival", async () => {
    const finish: ((isRight: boolean) => void)[] = [];
    const { isRight } = passwords({
      ...recording(() => new Promise((resolve) => finish.push(resolve))),
      atOnce: 2,
    });
    const results = [1, 2, 3, 4].map((number) => isRight(`password ${number}`, "stored", here));
    await flushPromises();
    assert.equal(finish.length, 2);
    finish[0]!(true);
    assert.equal(await results[0], true);
    await flushPromises();
    assert.equal(finish.length, 3);
    for (let at = 1; at < 4; at++) {
      await flushPromises();
      finish[at]!(false);
    }
    assert.deepEqual(await Promise.all(results), [true, false, false, false]);
  });

  it("is refused when the queue is full", async () => {
    const finish: ((isRight: boolean) => void)[] = [];
    const { isRight } = passwords({
      ...recording(() => new Promise((resolve) => finish.push(resolve))),
      atOnce: 1,
      longestQueue: 1,
    });
    const first = isRight("one", "stored", here);
    const second = isRight("two", "stored", here);
    await assert.rejects(isRight("three", "stored", here), TooManyRequests);
    finish[0]!(true);
    await first;
    await flushPromises();
    finish[1]!(true);
    await second;
  });

  it("waits for one check of each other source, not for all of them", async () => {
    const { isRight, order, finishAll } = checkedByHand({ atOnce: 1 });
    const flood = Array.from({ length: 20 }, (_, number) => isRight(`flood ${number}`, "stored", here));
    const second = ["a", "b"].map((name) => isRight(`second ${name}`, "stored", { source: "192.0.2.2" }));
    const ipv6 = ["1", "2"].map((host) => isRight(`ipv6 ${host}`, "stored", { source: `2001:db8::${host}` }));
    await finishAll();
    await Promise.all([...flood, ...second, ...ipv6]);
    assert.deepEqual(order.slice(0, 8), [
      "flood 0",
      "flood 1",
      "second a",
      "ipv6 1",
      "flood 2",
      "second b",
      "ipv6 2",
      "flood 3",
    ]);
    assert.equal(order.length, 24);
  });

  it("is not hashed when its client disconnects while it waits", async () => {
    const { isRight, order, finishAll } = checkedByHand({ atOnce: 1 });
    const client = new AbortController();
    const running = isRight("running", "stored", { ...here, disconnected: client.signal });
    const waiting = isRight("waiting", "stored", { ...here, disconnected: client.signal });
    const last = isRight("last", "stored", here);
    client.abort();
    await assert.rejects(waiting, ClientGone);
    await finishAll();
    assert.deepEqual(await Promise.all([running, last]), [true, true]);
    assert.deepEqual(order, ["running", "last"]);
  });

  it("evicts a password of the source that fills the queue", async () => {
    const { isRight, order, reached, finishAll } = checkedByHand({ atOnce: 1, longestQueue: 3 });
    const flood = [0, 1, 2, 3].map((number) => isRight(`flood ${number}`, "stored", here));
    const displaced = assert.rejects(flood[3]!, TooManyRequests);
    const elsewhere = isRight("elsewhere", "stored", { source: "192.0.2.2" });
    await displaced;
    await assert.rejects(isRight("flood 4", "stored", here), TooManyRequests);
    await finishAll();
    await Promise.all([...flood.slice(0, 3), elsewhere]);
    assert.deepEqual(order, ["flood 0", "flood 1", "elsewhere", "flood 2"]);
    assert.deepEqual(reached, ["passwordsWaiting", "passwordsWaiting"]);
  });

  it("frees its slot when hashing fails", async () => {
    let calls = 0;
    const { isRight } = passwords({
      ...recording(() => (++calls === 1 ? Promise.reject(new Error("no memory")) : Promise.resolve(true))),
      atOnce: 1,
    });
    await assert.rejects(isRight("one", "stored", here), /no memory/);
    assert.equal(await isRight("two", "stored", here), true);
  });
});

/** Passwords whose hash runs end only when the test says so, with the order in which they began. */
function checkedByHand(options: Pick<PasswordOptions, "atOnce" | "longestQueue">) {
  const order: string[] = [];
  const reached: LimitName[] = [];
  const unfinished: (() => void)[] = [];
  const { isRight } = passwords({
    ...options,
    argon2: {
      ...recording(async () => true).argon2!,
      verify: (_, password) => {
        order.push(String(password));
        return new Promise((resolve) => unfinished.push(() => resolve(true)));
      },
    },
    onLimitReached: (limit) => void reached.push(limit),
  });
  const finishAll = async () => {
    for (let finish = unfinished.shift(); finish; finish = unfinished.shift()) {
      finish();
      await flushPromises();
    }
  };
  return { isRight, order, reached, finishAll };
}

function recording(verify: (stored: string) => Promise<boolean>): PasswordOptions {
  return {
    argon2: {
      hash: async () => `$argon2id$v=19$m=19456,t=2,p=1$${"s".repeat(22)}$${"h".repeat(43)}`,
      verify: (stored) => verify(String(stored)),
    },
  };
}

/** Resolves when all pending work that needs no new input is done. */
function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
