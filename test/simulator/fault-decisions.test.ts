import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideCommand } from "../../simulator/faults/decide-command.ts";
import { decideFrame } from "../../simulator/faults/decide-frame.ts";
import { decideRequest } from "../../simulator/faults/decide-request.ts";
import type { Fault, FaultEffect, RequestKind } from "../../simulator/faults/fault.ts";
import { malformedKinds, malformedPut, outOfSizePut } from "../../simulator/streams/malformed-frames.ts";

const home = "account-1";
let serial = 10;
const fault = (effect: FaultEffect, accountId?: string): Fault => {
  serial++;
  return { id: `fault-${serial}`, serial, effect, accountId, timesLeft: undefined, untilMs: undefined };
};
const requestsOf = (faults: readonly Fault[], accountId: string | null = home) =>
  (["stream", "read", "write", "token"] as RequestKind[]).map(
    (kind) => decideRequest(faults, { kind, accountId }).plan.act,
  );

describe("deciding on a request", () => {
  it("lets it pass when no fault applies", () => {
    const elsewhere = fault({ fault: "unauthorized", requests: "all" }, "account-2");
    const onStreams = [fault({ fault: "drop" }), fault({ fault: "duplicate" }), fault({ fault: "withhold-answer" })];
    assert.deepEqual(requestsOf([elsewhere, ...onStreams]), ["go-on", "go-on", "go-on", "go-on"]);
  });

  it("applies to the requests that the fault names; to the token endpoint only when it is named", () => {
    const actsFor = (requests: "all" | RequestKind) => requestsOf([fault({ fault: "unauthorized", requests })]);
    assert.deepEqual(actsFor("all"), ["refuse", "refuse", "refuse", "go-on"]);
    assert.deepEqual(actsFor("write"), ["go-on", "go-on", "refuse", "go-on"]);
    assert.deepEqual(actsFor("token"), ["go-on", "go-on", "go-on", "refuse"]);
  });

  it("takes the oldest of several, and the longest delay of all", () => {
    const [slow, slower] = [fault({ fault: "slow", ms: 5 }), fault({ fault: "slow", ms: 9 })];
    const loop = fault({ fault: "redirect-loop", requests: "all" });
    const error = fault({ fault: "server-error", status: 503, requests: "all" });
    const { plan, delayMs, applied } = decideRequest([slow, loop, slower, error], { kind: "read", accountId: home });
    assert.deepEqual([plan, delayMs, applied], [{ act: "redirect", base: undefined }, 9, [slower, loop]]);
  });

  it("is silent on new connections only when the fault says so", () => {
    assert.deepEqual(requestsOf([fault({ fault: "silence", newConnections: false })])[0], "go-on");
    assert.deepEqual(requestsOf([fault({ fault: "silence", newConnections: true })])[0], "say-nothing");
  });

  it("of an unknown account gets the faults of all accounts", () => {
    const ofHome = fault({ fault: "unauthorized", requests: "all" }, home);
    assert.equal(requestsOf([ofHome], null)[1], "go-on");
    assert.equal(requestsOf([fault({ fault: "server-error", status: 500, requests: "all" })], null)[1], "refuse");
  });
});

describe("deciding on an event", () => {
  const frame = { accountId: home, event: "put", streamSerial: 1 } as const;

  it("sends it unchanged when no fault applies", () => {
    const { plan } = decideFrame([fault({ fault: "duplicate" }, "account-2")], frame);
    assert.deepEqual(plan, { act: "send", shape: { as: "usual" }, delayMs: 0 });
  });

  it("withholds everything from streams that were open before the silence", () => {
    const silence = fault({ fault: "silence", newConnections: false });
    for (const event of ["put", "keep-alive"] as const) {
      assert.equal(decideFrame([silence], { ...frame, event }).plan.act, "withhold");
      const later = { ...frame, event, streamSerial: silence.serial + 1 };
      assert.equal(decideFrame([silence], later).plan.act, "send");
    }
  });

  it("withholds changes and lets keep-alives through", () => {
    const faults = [fault({ fault: "keep-alives-only" }), fault({ fault: "malformed", kind: "bom" })];
    assert.equal(decideFrame(faults, frame).plan.act, "withhold");
    assert.equal(decideFrame(faults, { ...frame, event: "keep-alive" }).plan.act, "send");
  });

  it("corrupts puts, but never keep-alives", () => {
    const faults = [fault({ fault: "slow", ms: 7 }), fault({ fault: "malformed", kind: "bom" })];
    const shape = { as: "malformed", kind: "bom" };
    assert.deepEqual(decideFrame(faults, frame).plan, { act: "send", shape, delayMs: 7 });
    const kept = decideFrame(faults, { ...frame, event: "keep-alive" });
    assert.deepEqual(kept.plan, { act: "send", shape: { as: "usual" }, delayMs: 7 });
  });
});

describe("deciding on a command", () => {
  it("rejects fan commands only, and reverts only those that start one", () => {
    const reject = fault({ fault: "reject-fan", status: 400, message: "no", anchor: undefined });
    const revert = fault({ fault: "accept-then-revert", afterMs: 0 });
    const effectOf = (faults: readonly Fault[], startsFan: boolean | undefined) =>
      decideCommand(faults, { accountId: home, startsFan }).effect?.fault;
    assert.deepEqual(
      [effectOf([reject], true), effectOf([reject], false), effectOf([reject], undefined)],
      ["reject-fan", "reject-fan", undefined],
    );
    assert.deepEqual([effectOf([revert], true), effectOf([revert], false)], ["accept-then-revert", undefined]);
    assert.equal(effectOf([fault({ fault: "withhold-answer" })], undefined), "withhold-answer");
  });
});

describe("a malformed put", () => {
  const text = '{"path":"/","data":{"devices":{},"structures":{}}}';
  const written = (kind: (typeof malformedKinds)[number]) => Buffer.concat(malformedPut(kind, text)).toString("utf8");
  const dataOf = (kind: (typeof malformedKinds)[number]) =>
    written(kind)
      .split(/\r\n|\r|\n/)
      .filter((line) => line.startsWith("data: "))
      .map((line) => line.slice(6))
      .join("\n");

  it("has the same meaning in the kinds that are only unusual", () => {
    for (const kind of ["cr-lf", "multi-line", "bom", "id-and-retry", "split-utf8"] as const) {
      const { path, data } = JSON.parse(dataOf(kind));
      assert.deepEqual({ path, data }, JSON.parse(text), kind);
    }
    assert.match(written("cr-lf"), /put\rdata: .*\r\n\n$/);
    assert.match(written("bom"), /^\ufeffevent/);
    assert.equal(written("multi-line").match(/data: /g)?.length, 3);
    const [before, after] = malformedPut("split-utf8", text);
    assert.deepEqual([before!.at(-1), after![0]], [...Buffer.from("🏡").subarray(1, 3)]);
  });

  it("cannot be parsed in the kinds that are wrong", () => {
    for (const kind of ["bad-json", "nul"] as const) assert.throws(() => JSON.parse(dataOf(kind)), kind);
    assert.ok(written("nul").includes("\0"));
  });

  it("can be parsed but is dangerous in all other kinds", () => {
    assert.ok(Object.hasOwn(JSON.parse(dataOf("prototype")).data, "__proto__"));
    assert.deepEqual(
      JSON.parse(Buffer.concat(malformedPut("prototype", '{"path":"/","data":{}}')).toString().slice(17)).path,
      "/",
    );
    assert.match(written("patch"), /^event: patch\n/);
    assert.match(written("unknown-event"), /^event: weather\n/);
    assert.equal(JSON.parse(dataOf("null-data")), null);
    assert.equal(dataOf("deep").match(/\{/g)?.length, 10_001);
  });

  it("ends as an event in every kind", () => {
    for (const kind of malformedKinds) assert.match(written(kind), /\n\n$/, kind);
  });

  it("of three megabytes is as large as that", () => {
    const bytes = outOfSizePut(3, text);
    assert.ok(bytes.length > 3 * 1024 * 1024);
    assert.deepEqual(JSON.parse(bytes.toString().slice(17)).data, JSON.parse(text).data);
  });
});
