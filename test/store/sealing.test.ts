import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { keysFromFile } from "../../src/store/keys/key-file.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";

const place = "link 7 of user 3";

describe("a sealed token", () => {
  const sealing = sealingWith(randomBytes(32));

  it("opens to what was sealed", () => {
    for (const token of ["", "c.token", "🔑 and \0 and \"'", "x".repeat(10_000)]) {
      const sealed = sealing.seal(token, place);
      assert.equal(sealing.open(sealed, place), token);
      assert.ok(token === "" || !sealed.includes(token));
    }
  });

  it("is different each time", () => {
    assert.notEqual(sealing.seal("token", place), sealing.seal("token", place));
  });

  it("doesn't open with another key, and the error names both key ids", () => {
    const other = sealingWith(randomBytes(32));
    assert.throws(
      () => other.open(sealing.seal("token", place), place),
      new RegExp(`${sealing.keyId}.*${other.keyId}`),
    );
  });

  it("doesn't open with a wrong key under the right id", () => {
    const other = sealingWith(randomBytes(32));
    const forged = sealing.seal("token", place).replace(sealing.keyId, other.keyId);
    assert.throws(() => other.open(forged, place));
  });

  it("doesn't open in another context", () => {
    assert.throws(() => sealing.open(sealing.seal("token", place), "link 8 of user 3"));
  });

  it("doesn't open when a single character was changed, or its end is missing", () => {
    const sealed = sealing.seal("token", place);
    for (let i = 0; i < sealed.length; i++) {
      // The last character of base64url may have unused bits; all others count.
      if (i === sealed.length - 1 || sealed[i + 1] === ".") continue;
      const touched = sealed.slice(0, i) + (sealed[i] === "A" ? "B" : "A") + sealed.slice(i + 1);
      assert.throws(() => sealing.open(touched, place), `touched at ${i}: ${touched}`);
    }
    for (let length = 0; length < sealed.length - 1; length++) {
      assert.throws(() => sealing.open(sealed.slice(0, length), place), `cut to ${length}`);
    }
  });

  it("opens only for the purpose that it was sealed for, also after the key has changed", () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const before = sealingWith(first).derive("login ticket").seal("token", place);
    const after = sealingWith(second, first);
    assert.equal(after.derive("login ticket").open(before, place), "token");
    assert.throws(() => after.derive("another purpose").open(before, place), /was sealed with key/);
    assert.throws(() => after.open(before, place), /was sealed with key/);
    assert.throws(() => after.derive("login ticket").open(after.seal("token", place), place), /was sealed with key/);
  });

  it("reveals nothing of the token when it doesn't open", () => {
    const sealed = sealing.seal("c.very-secret", place);
    assert.throws(
      () => sealing.open(sealed, "elsewhere"),
      (error: Error) => !error.message.includes("secret") && !error.message.includes(sealed.split(".")[3]!),
    );
  });
});

describe("the key file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "breezeway-key-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is created once, and only its owner can read it", () => {
    const file = join(folder, "made.key");
    const keys = keysFromFile(file);
    assert.equal(keys[0].length, 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(keysFromFile(file), keys);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("made")),
      ["made.key"],
    );
  });

  it("is created although a killed start left its draft", () => {
    const file = join(folder, "again.key");
    writeFileSync(`${file}.${process.pid}.draft`, "half");
    assert.equal(keysFromFile(file)[0].length, 32);
  });

  it("is refused when others can read it, with the command that repairs it", () => {
    const file = join(folder, "open.key");
    const key = keysFromFile(file);
    for (const mode of [0o640, 0o604, 0o660]) {
      chmodSync(file, mode);
      assert.throws(() => keysFromFile(file), new RegExp(`chmod 600 ${file}`));
    }
    chmodSync(file, 0o600);
    assert.deepEqual(keysFromFile(file), key);
  });

  it("is refused when it holds no key, without showing its content", () => {
    const file = join(folder, "short.key");
    writeFileSync(file, "c2hvcnQ\n", { mode: 0o600 });
    assert.throws(
      () => keysFromFile(file),
      (error: Error) => error.message.includes(file) && !error.message.includes("c2hvcnQ"),
    );
    assert.equal(readFileSync(file, "utf8"), "c2hvcnQ\n");
  });
});
