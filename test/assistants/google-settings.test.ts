import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readGoogleSettings } from "../../src/assistants/google-home/settings.ts";
import { BadParameter } from "../../src/model/errors.ts";

const key = { client_email: "a@b.example", private_key: "-----BEGIN PRIVATE KEY-----" };
const typed = { "project-id": "acme-home", "service-account": JSON.stringify(key) };

describe("the address of Home Graph in the settings of an outlet", () => {
  const addressOf = (text: string) => readGoogleSettings({ ...typed, "home-graph-url": text }).homeGraphUrl;

  it("is Google's by default, and may end with a slash", () => {
    assert.equal(readGoogleSettings(typed).homeGraphUrl, "https://homegraph.googleapis.com");
    assert.equal(addressOf("https://graph.example/"), "https://graph.example");
    assert.equal(addressOf("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
  });

  it("has no path, query or fragment: each call would get 404, which means that the user has unlinked", () => {
    for (const rest of ["/v1", "/v1/", "?key=1", "#a"]) {
      assert.throws(() => addressOf(`https://homegraph.googleapis.com${rest}`), BadParameter, rest);
    }
    for (const text of ["http://graph.example", "https://a:b@graph.example", "graph.example"]) {
      assert.throws(() => addressOf(text), BadParameter, text);
    }
  });
});
