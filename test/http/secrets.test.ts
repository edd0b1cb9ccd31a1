import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EcosystemRefused } from "../../src/model/errors.ts";
import { operations } from "../../src/platform/operations.ts";
import { madeServer } from "./made-server.ts";

/** Shaped like a real secToken, so that it gets as far as the store. */
const canary = `bws_${"CANARY".repeat(8).slice(0, 43)}`;
const form = { "content-type": "application/x-www-form-urlencoded" };
const json = { "content-type": "application/json" };

const paths = [
  "/livez",
  "/readyz",
  "/adaptor/federatedtokens",
  "/adaptor/largestrings",
  "/adaptor/federatedtoken",
  ...[...operations.keys(), "userLogn", canary, `%${canary}`].map((name) => `/zdk/services/zamapi/${name}`),
  `/${canary}`,
  `/${canary}/%ZZ`,
];
const names = ["secToken", "anAccessToken", "password", "name", "id", "devId", "userId", "appId", "anEcosystemName"];
const everywhere = names.map((name) => `${name}=${canary}`).join("&");
const queries = ["", `?${everywhere}`, `?${canary}`, `?${everywhere}&x=%ZZ`, `?secToken=${canary.repeat(220)}`];
const bodies: (RequestInit & { headers: Record<string, string> })[] = [
  { headers: {} },
  { headers: { authorization: `Bearer ${canary}` } },
  { headers: { "x-request-id": canary, cookie: canary, "x-forwarded-for": canary } },
  { headers: form, body: everywhere },
  { headers: form, body: `${everywhere}&%${canary}` },
  { headers: json, body: JSON.stringify(Object.fromEntries(names.map((name) => [name, canary]))) },
  { headers: json, body: `{"secToken": ${canary}` },
  { headers: { "content-type": canary }, body: canary },
  { headers: form, body: `secToken=${canary.repeat(2_000)}` },
];

/** Each query alone, each body alone, and each body beside a query full of secrets. */
const sent = [
  ...queries.map((query) => [query, bodies[0]!] as const),
  ...bodies.flatMap((body) => [["", body] as const, [`?${everywhere}`, body] as const]),
];

describe("a secret", () => {
  it("sent to any path, by any method, in any place comes back nowhere and is logged nowhere", async (t) => {
    const { fetch, log, reported, raw, server } = await madeServer(t);
    let answers = 0;
    for (const path of paths) {
      await Promise.all(
        ["GET", "POST", "PUT", "DELETE"].flatMap((method) =>
          sent.map(async ([query, { body, ...init }]) => {
            if (method === "GET" && body !== undefined) return;
            const answer = await fetch(path + query, { method, ...init, ...(body !== undefined && { body }) });
            const text = (await answer.text()) + JSON.stringify([...answer.headers]);
            assert.ok(!text.includes("CANARY"), `${method} ${path}${query.slice(0, 80)}: ${text.slice(0, 500)}`);
            answers++;
          }),
        ),
      );
    }
    for (const request of [
      `GET /livez HTTP/1.1\r\nHost: ${canary}\r\nExpect: ${canary}\r\nConnection: close\r\n\r\n`,
      `GET http://${canary}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET /${canary} HTTP/9.9\r\nHost: a\r\n\r\n`,
      `${canary} / HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET /?${canary.repeat(400)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET /livez HTTP/1.1\r\nHost: a\r\n${canary}\r\n\r\n`,
    ]) {
      const answer = await raw(request);
      assert.match(answer, /^HTTP\/1\.1 /);
      assert.ok(!answer.includes("CANARY"), answer);
      answers++;
    }
    await server.stop();
    assert.ok(!log().includes("CANARY"));
    assert.equal(reported.length, answers);
    assert.deepEqual(
      reported.filter(({ level }) => level !== "info"),
      [],
    );
  });

  it("of a caller who is who they say is as safe", async (t) => {
    const { fetch, log, secToken, federation, reported, server } = await madeServer(t);
    const anAccessToken = "c.CANARY";
    const failures = [new EcosystemRefused("The ecosystem refused the token."), new Error("unexpected")];
    for (const error of failures) {
      federation.link = () => Promise.reject(error);
      for (const method of ["POST", "PUT"]) {
        const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken });
        const answers = [
          await fetch("/adaptor/federatedtokens", { method, body }),
          await fetch(`/adaptor/federatedtokens?${body}`, { method }),
        ];
        for (const answer of answers) {
          const text = await answer.text();
          assert.ok(!text.includes("CANARY") && !text.includes(secToken));
        }
      }
    }
    const login = new URLSearchParams({ name: "alice", password: "correct horse", appId: "7" });
    for (const appId of ["7", "8"]) {
      login.set("appId", appId);
      const text = await (await fetch(`/zdk/services/zamapi/userLogin?${login}`)).text();
      const issued = /bws_[\w-]+/.exec(text)?.[0];
      assert.ok(!text.includes("correct horse") && !log().includes(issued ?? "correct horse"));
    }
    await server.stop();
    assert.ok(reported.length > 8);
    for (const secret of ["CANARY", secToken, "correct horse", "correct+horse", "correct%20horse"]) {
      assert.ok(!log().includes(secret), secret);
    }
  });
});
