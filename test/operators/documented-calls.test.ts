import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adminCalls, onlyOnTheMachine } from "../../src/cli/administration/calls/calls.ts";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";
import type { AdminCall } from "../../src/operators/admin-call.ts";
import { DescribedAnswers, type OpenApi, operationsOf } from "../http/documented-answers/described-answers.ts";
import { addressOf, fixtureOf, type Sent } from "./call-fixture.ts";
import type { OperatorBrowser } from "./operator-browser.ts";
import { operatorWorld, password } from "./operator-world.ts";

describe("each command of administrators", () => {
  it("has an address below /admin/v1, or needs the machine itself", () => {
    const commands = nouns.flatMap((noun) => noun.commands).filter(isAdmin);
    const ofCommands = adminCalls.filter(({ isWithoutCommand }) => !isWithoutCommand);
    const known = new Set([...ofCommands.map(({ act }) => act), ...onlyOnTheMachine]);
    const names = commands.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
    assert.deepEqual(
      [...known].filter((name) => !names.includes(name)),
      [],
    );
  });

  it("asks for the password again when its answer is a secret", () => {
    const unasked = adminCalls.filter(({ need, asksPassword }) => need === "secret" && !asksPassword);
    assert.deepEqual(
      unasked.map(({ act }) => act),
      Object.keys(secretsWithoutPassword),
    );
  });

  it("answers as the OpenAPI document says, in success and failure, and every documented answer occurs", async (t) => {
    const world = await operatorWorld(t);
    const { service } = world;
    const document: OpenApi = await (await fetch(`${service.baseUrl}/openapi.json`)).json();
    const answers = new DescribedAnswers(document);
    const operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));
    const owner = await world.owner();
    const viewer = await world.invited("vera", { role: "viewer", tenant: ["Acme"] });
    const stranger = world.newBrowser();

    const check = async (call: AdminCall, status: number, browser: OperatorBrowser, sent: Sent, headers = {}) => {
      const { path, json } = addressOf(call, sent);
      const answer = await browser.ask(call.method, path, json, headers);
      const body = await answer.text();
      assert.equal(answer.status, status, `${call.act}: ${body}`);
      const id = `admin${call.act.replace(/(^|[ -])(\w)/g, (_, _gap, letter: string) => letter.toUpperCase())}`;
      assert.ok(operations.has(id), id);
      answers.check(id, { status: answer.status, headers: answer.headers, body });
      return body === "" ? {} : JSON.parse(body);
    };

    for (const call of adminCalls) {
      await check(call, 401, stranger, {});
      if (call.need !== "read") await check(call, 403, owner, {}, { "sec-fetch-site": "cross-site" });
      const isForbidden = call.need !== "read" ? call.subject !== "self" : call.subject === "deployment";
      if (isForbidden) await check(call, 403, viewer, {});
    }
    world.clock.aheadMs += 6 * 60_000;
    for (const call of adminCalls.filter(({ asksPassword }) => asksPassword)) await check(call, 403, owner, {});
    await owner.send("/console/password", { password });
    for (const call of adminCalls.filter(({ path, absentCode }) => path.includes(":") && absentCode !== null)) {
      await check(call, 404, owner, { at: [absentId(call), "9"], ...absentFor(call) });
    }
    const fixture = await fixtureOf(world);
    const done = new Set<string>();
    for (const [act, makeSent] of fixture) {
      const call = adminCalls.find((one) => one.act === act)!;
      const isNew = call.method === "POST" && / (add|make|invite)$/.test(act);
      await check(call, isNew ? 201 : 200, owner, await makeSent());
      done.add(act);
    }
    assert.deepEqual(
      adminCalls.map(({ act }) => act).filter((act) => !done.has(act)),
      [callsElsewhere],
    );
    // Without free keys, `key prune` changes nothing.
    const changing = adminCalls.filter(({ act, need }) => need !== "read" && done.has(act) && act !== "key prune");
    const { entries } = await world.run("audit list", { limit: "1000", operator: "ada", act: "admin" });
    const audited = new Set(
      entries.map(({ detail }: { readonly detail: { readonly command: string } }) => detail.command),
    );
    assert.deepEqual(
      changing.map(({ act }) => act).filter((act) => !audited.has(act)),
      [],
    );
    assert.doesNotMatch(JSON.stringify(entries), new RegExp(`${password}|bwop_|bwol_|bwcs_|whsec_`));
    assert.deepEqual(
      answers.unseen().filter((promise) => promise.startsWith("admin")),
      ["adminOutletCheck 200"],
    );
  });
});

/** Calls with a secret in the answer that do not ask for the password, each with the reason. */
const secretsWithoutPassword = {
  "home page": "made often, for one use within 30 minutes, and its page asks the user to sign in before anything else",
};

/** It calls the assistant's maker; test/assistants runs it against a simulated one. */
const callsElsewhere = "outlet check";

const absentBody = {
  name: "x",
  password,
  role: "viewer",
  since: "2026-01-01T00:00:00Z",
  user: 1,
  tenant: "Acme",
  trait: "onOff",
  command: "set",
  message: "{}",
};

/** Ids are numbers, names or random text. */
function absentId({ path }: AdminCall): string {
  return /:(user|device)\b/.test(path) ? "2147483647" : "no-such-thing";
}

/** A body may hold only members that the call knows. */
function absentFor({ fields = [], path }: AdminCall): Pick<Sent, "json" | "query"> {
  const members = Object.entries({ ...absentBody, template: "lamp" }).filter(([name]) =>
    fields.some(({ option }) => option === name),
  );
  const json = Object.fromEntries(members.map(([name, value]) => [name, wanted(fields, name, value)]));
  return { json, query: path.startsWith("/grants") ? { user: "1" } : { tenant: "Acme" } };
}

function wanted(fields: AdminCall["fields"], name: string, value: unknown): unknown {
  return fields?.find(({ option }) => option === name)?.kind === "texts" ? [value] : value;
}
