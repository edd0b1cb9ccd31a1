import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { httpUrl, InvalidSetting, plainAddress } from "../../src/model/setting-checks.ts";

describe("an address in a setting", () => {
  it("is kept without slashes at its end", () => {
    for (const address of ["https://a.example", "http://127.0.0.1:8080", "https://a.example/path"]) {
      assert.equal(httpUrl(address), address);
      assert.equal(httpUrl(`${address}//`), address);
    }
  });

  const refused: readonly (readonly [text: string, sentence: string])[] = [
    ["breeze", 'is "breeze", which is not an address'],
    ["ftp://a.example", "must begin with http:// or https://"],
    ["https:a.example", "must begin with http:// or https://"],
    ["https:\\\\a.example", "must begin with http:// or https://"],
    [" https://a.example", "must begin with http:// or https://"],
    ["https://a.example ", "must have no spaces or line breaks"],
    ["https://a.example/\n", "must have no spaces or line breaks"],
    ["https://user@a.example", "must have no user, query or fragment"],
    ["https://:password@a.example", "must have no user, query or fragment"],
    ["https://user:password@a.example", "must have no user, query or fragment"],
    ["https://a.example/?", "must have no user, query or fragment"],
    ["https://a.example?b=c", "must have no user, query or fragment"],
    ["https://a.example/#b", "must have no user, query or fragment"],
  ];
  for (const [text, sentence] of refused) {
    it(`is refused when it is ${text}`, () => {
      assert.throws(
        () => httpUrl(text),
        (error) => error instanceof InvalidSetting && error.message === sentence,
      );
    });
  }
});

describe("the address of a server", () => {
  it("names its host and port, and puts an IPv6 address into brackets", () => {
    assert.equal(plainAddress("127.0.0.1", 8080), "http://127.0.0.1:8080");
    assert.equal(plainAddress("localhost", 80), "http://localhost:80");
    assert.equal(plainAddress("::1", 8080), "http://[::1]:8080");
  });
});
