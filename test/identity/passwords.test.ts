import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PasswordOptions, passwords } from "../../src/identity/passwords.ts";
import { TooManyRequests } from "../../src/model/errors.ts";

describe("a password", () => {
  it("is kept as argon2id with its parameters, salted each time", async () => {
    const { hash, isRight } = passwords();
    const [one, other] = await Promise.all([hash("correct horse"), hash("correct horse")]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(one, other);
    assert.equal(await isRight("correct horse", one), true);
    assert.equal(await isRight("correct hors", one), false);
  });

  it("is still right when it was hashed with other parameters", async () => {
    const { hash } = await import("@node-rs/argon2");
    const old = await hash("correct horse", { memoryCost: 8_192, timeCost: 3 });
    assert.equal(await passwords().isRight("correct horse", old), true);
  });

  it("is compared at the same cost when there is no such user", async () => {
    const verified: string[] = [];
    const { hash, isRight } = passwords(
      recording((stored) => {
        verified.push(stored);
        return Promise.resolve(true);
      }),
    );
    const stored = await hash("correct horse");
    assert.equal(await isRight("correct horse", stored), true);
    assert.equal(await isRight("correct horse", undefined), false);
    const costOf = (text: string) => text.split("$").slice(0, 4).join("$");
    assert.equal(verified.length, 2);
    assert.equal(costOf(verified[0]!), costOf(verified[1]!));
    assert.equal(verified[0]!.length, verified[1]!.length);
  });

  it("waits for its turn: two are hashed at once, in the order in which they came", async () => {
    const finish: ((isRight: boolean) => void)[] = [];
    const { isRight } = passwords(recording(() => new Promise((resolve) => finish.push(resolve))));
    const results = [1, 2, 3, 4].map((number) => isRight(`password ${number}`, "stored"));
    await settled();
    assert.equal(finish.length, 2);
    finish[0]!(true);
    assert.equal(await results[0], true);
    await settled();
    assert.equal(finish.length, 3);
    for (let at = 1; at < 4; at++) {
      await settled();
      finish[at]!(false);
    }
    assert.deepEqual(await Promise.all(results), [true, false, false, false]);
  });

  it("isn't queued endlessly", async () => {
    const finish: ((isRight: boolean) => void)[] = [];
    const { isRight } = passwords({
      ...recording(() => new Promise((resolve) => finish.push(resolve))),
      atOnce: 1,
      longestQueue: 1,
    });
    const first = isRight("one", "stored");
    const second = isRight("two", "stored");
    await assert.rejects(isRight("three", "stored"), TooManyRequests);
    finish[0]!(true);
    await first;
    await settled();
    finish[1]!(true);
    await second;
  });

  it("gives its place back when hashing fails", async () => {
    let calls = 0;
    const { isRight } = passwords({
      ...recording(() => (++calls === 1 ? Promise.reject(new Error("no memory")) : Promise.resolve(true))),
      atOnce: 1,
    });
    await assert.rejects(isRight("one", "stored"), /no memory/);
    assert.equal(await isRight("two", "stored"), true);
  });
});

function recording(verify: (stored: string) => Promise<boolean>): PasswordOptions {
  return {
    argon2: {
      hash: async () => `$argon2id$v=19$m=19456,t=2,p=1$${"s".repeat(22)}$${"h".repeat(43)}`,
      verify: (stored) => verify(String(stored)),
    },
  };
}

/** Everything that can go on without anything new has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
