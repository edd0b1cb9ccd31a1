import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Command } from "commander";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";
import { counted, table } from "../../src/cli/terminal/output.ts";

const commands = nouns.flatMap((noun) => noun.commands);

/** The terminal output of a command for an answer of the service. */
function outputOf(name: string, answer: object, typed: Record<string, unknown> = {}, width?: number): string {
  const command = commands.filter(isAdmin).find((one) => one.name === name);
  assert.ok(command, name);
  return command.toText(answer, typed, width);
}

describe("the output of a command on a terminal", () => {
  it("is a sentence that says what was done", () => {
    const credentials = { client_id: "bwc_1", client_secret: "bwcs_2" };
    const cases: readonly (readonly [string, RegExp])[] = [
      [outputOf("tenant add", { tenantId: 42, name: "Acme" }), /^Added tenant Acme with app id 42\.$/],
      [outputOf("user add", { userId: 3 }, { name: "ada" }), /^Added user ada with id 3\.$/],
      [outputOf("device add", { deviceId: 5 }), /^Added device 5\.$/],
      [outputOf("device remove", { deviceId: 5 }), /^Removed device 5\.$/],
      [outputOf("client add", credentials, { name: "Voice" }), /^Added client Voice\.\n\n {2}client_id {6}bwc_1\n/],
      [outputOf("client add", credentials, { name: "Voice" }), /The secret is shown only now/],
      [outputOf("client rotate-secret", credentials, { overlap: "24" }), /The old secret stays valid for 24 hours\.$/],
      [outputOf("client rotate-secret", credentials, { overlap: "1" }), /for 1 hour\.$/],
      [outputOf("client rotate-secret", credentials, { overlap: "0" }), /The old secret has ended\.$/],
      [outputOf("client remove", { name: "Voice", grants: 0 }), /^Removed client Voice\. It had no grants\.$/],
      [outputOf("client remove", { name: "Voice", grants: 2 }), /2 grants ended, with every token\.$/],
      [outputOf("user set-password", { userId: 3, grants: 0 }), /signed out everywhere\. No client had access\.$/],
      [outputOf("user set-password", { userId: 3, grants: 1 }), /1 grant to clients ended\.$/],
    ];
    for (const [words, pattern] of cases) assert.match(words, pattern);
  });

  it("says what was removed with a user, and which token an ecosystem did not revoke", () => {
    const removed = { links: 2, devices: 3, attributes: 520, history: 9, blindIntervals: 1, grants: 1 };
    assert.equal(
      outputOf("user remove", { userId: 3, removed, tokensRevoked: 2 }),
      "Removed user 3 with 2 links, 3 devices and 1 grant to clients.",
    );
    assert.match(
      outputOf("user remove", { userId: 3, removed, tokensRevoked: 1 }),
      /\n1 token could not be revoked at the ecosystem/,
    );
  });

  it("is a table with a header, or how to add the first entry when there is none", () => {
    assert.match(outputOf("tenant list", { tenants: [] }), /breezeway tenant add --help/);
    assert.match(outputOf("user list", { users: [] }), /breezeway user add --help/);
    assert.match(outputOf("client list", { clients: [] }), /breezeway client add --help/);
    assert.equal(outputOf("tenant list", { tenants: [{ tenantId: 42, name: "Acme" }] }), "APP ID  NAME\n42      Acme");
    const entry = { tenantId: 42, userId: 3, clientId: null, source: "command" };
    const detail = { command: "tenant brand", accent: "#0b6470", clear: ["logo", "support-url"] };
    const entries = [{ time: "2026-01-01T00:00:00.000Z", act: "admin", ...entry, detail }];
    const [head, line] = outputOf("audit list", { entries }).split("\n");
    assert.match(head!, /^TIME +ACT +TENANT +CALLER +SOURCE +DETAIL$/);
    assert.match(line!, / d ago {2}admin +42 +user 3 +command +tenant brand accent=#0b6470 clear=logo,support-url$/);
  });

  it("says that no audit entry fits when a filter is set, and else that the log is empty", () => {
    assert.equal(outputOf("audit list", { entries: [] }, { limit: "50" }), "The audit log is empty.");
    for (const filter of ["tenant", "act", "operator", "user", "client"])
      assert.equal(outputOf("audit list", { entries: [] }, { limit: "50", [filter]: "1" }), "No entry fits.", filter);
  });

  it("says of how many links the blind time was counted", () => {
    const blindOf = (isAll: boolean) => {
      const blind = { ms: 120_000, blindLinks: 3, links: 500, isAll };
      const none = {
        signIns: [],
        failedSignIns: [],
        delivered: [],
        failed: [],
        linkStates: { states: [], isCounted: [] },
      };
      return /^blind +(.*)$/m.exec(outputOf("activity", { ...none, blind }))?.[1];
    };
    assert.equal(blindOf(true), "2 min, of 3 of 500 links");
    assert.equal(blindOf(false), "2 min, of 3 of the first 500 links");
  });

  it("says that more messages of a webhook may wait than were counted", () => {
    const waiting = (count: number) => /^waiting +(.*)$/m.exec(outputOf("hook show", { waiting: count }))?.[1];
    assert.deepEqual([waiting(12), waiting(1_000)], ["12", "1,000 or more"]);
  });

  it("shows requests and audit entries on lines of 80 columns, with their main column and short ids", () => {
    const [clientId, requestId] = ["bwc_u2XyQ0m1r9T5n8s7w6v4zA", "6f1b0c9e-52a7-4c0f-9c3b-0123456789ab"];
    const caller = { tenantId: 42, userId: 3, clientId };
    const time = new Date(Date.now() - 180_000).toISOString();
    const route = { method: "GET", route: "/v3/devices/:deviceId/history", operation: null };
    const request = { time, ...route, ...caller, requestId, status: 404, tookMs: 1_234, code: "unknown_device" };
    const requests = outputOf("request list", { requests: [request], nodes: [], silentNodes: [] }, {}, 80);
    assert.match(
      requests,
      /^TIME +STATUS +MS +REQUEST +CALLER +CODE +ID\n3 min ago {2}404 +1234 +GET \/v3\/devices\/:devi/,
    );
    assert.match(requests, / 6f1b0c9e$/);
    const detail = { command: "client edit", name: "A voice assistant" };
    const entry = { time, act: "admin", ...caller, operator: "local", source: "command", detail };
    const entries = outputOf("audit list", { entries: [entry] }, {}, 80);
    assert.match(entries, /\n3 min ago {2}admin .*client edit name=A voice/);
    for (const line of [...requests.split("\n"), ...entries.split("\n")]) assert.ok(line.length <= 80, line);
  });

  it("never contains terminal control sequences from data", () => {
    const shown = table(["SOURCE"], [["\u001b[2Jgone\u0007"]]);
    assert.equal(shown, "SOURCE\n\uFFFD[2Jgone\uFFFD");
  });

  it("uses the right plural", () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => counted(count, "link")),
      ["no links", "1 link", "2 links"],
    );
  });
});

describe("the options of a command", () => {
  it("never take a secret, which others on the machine could read", () => {
    for (const { name, options } of commands) {
      const described = new Command(name);
      options?.(described);
      for (const { long } of described.options) assert.doesNotMatch(long!, /password|secret|token/, `${name} ${long}`);
    }
  });
});
