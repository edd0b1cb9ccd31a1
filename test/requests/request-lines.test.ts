import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Reporter, type ReporterParts } from "../../src/assistants/reporter/reporter.ts";
import { EventHub, type HubParts } from "../../src/events/event-hub.ts";
import type { EventReader } from "../../src/events/event-reader.ts";
import { type SenderParts, WebhookSender } from "../../src/events/webhooks/sender.ts";
import type { UserId } from "../../src/model/ids.ts";
import { lineBounds } from "../../src/model/log-line.ts";
import { LineMemory } from "../../src/requests/line-memory.ts";
import { RecentRequests } from "../../src/requests/recent-requests.ts";
import { keptLine } from "../../src/runtime/kept-lines.ts";
import { type LogLevel, startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { runOutsideRequests, runWithLines, withRequestLines } from "../../src/runtime/process/request-lines.ts";
import type { Priority } from "../../src/store/seam.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { onStore } from "../contracts/store/harness.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { missingPostgres } from "../set-up/postgres.ts";

const same = { method: "GET", route: "/v3/users", operation: undefined, status: 200, code: undefined, tookMs: 1 };
const request = (requestId: string) => ({ ...same, requestId, bytes: 1, caller: { tenantId: 1 }, source: "192.0.2.1" });

function logged(level: LogLevel = "debug") {
  const written: string[] = [];
  const report = withRequestLines(startLogging(level, { write: (line) => void written.push(line) }));
  return { report, written: () => written.map((line) => JSON.parse(line)) };
}

const openLines = (requestId = "r1") =>
  ({ requestId, lines: [], isOpen: true, owner: { tenant: "", holder: "" } }) as Parameters<typeof runWithLines>[0];

describe("the log lines of a request", () => {
  it("are those that its work writes, also after a wait, each with its id in the log", async () => {
    const { report, written } = logged();
    const [one, two] = [openLines("one"), openLines("two")];
    await Promise.all(
      [one, two].map((lines) =>
        runWithLines(lines, async () => {
          report.info({ step: 1 }, "begun");
          await new Promise((resolve) => setImmediate(resolve));
          report.warn({ step: 2 }, `ended ${lines.requestId}`);
        }),
      ),
    );
    report.info({}, "of no request");
    assert.deepEqual(
      one.lines.map(({ level, sentence, fields }) => [level, sentence, fields]),
      [
        ["info", "begun", { requestId: "one", step: 1 }],
        ["warn", "ended one", { requestId: "one", step: 2 }],
      ],
    );
    assert.equal(two.lines.length, 2);
    assert.deepEqual(
      written()
        .map(({ requestId }) => requestId ?? null)
        .toSorted(),
      [null, "one", "one", "two", "two"].toSorted(),
    );
  });

  for (const harness of [sqliteHarness, postgresHarness]) {
    const skip = harness === postgresHarness && (missingPostgres() ?? false);
    it(`are its own when its transaction shares a COMMIT with others, on ${harness.kind}`, { skip }, () =>
      onStore(harness, async (store) => {
        const { report } = logged();
        const users = [1, 2, 3].map((id) => id as UserId);
        const priorities: ((userId: UserId) => Priority)[] = [
          () => ({}),
          (groupedBy) => ({ background: true, groupedBy }),
        ];
        for (const priorityOf of priorities) {
          const ids = users.map((userId) => ({ userId, lines: openLines(`of user ${userId}`) }));
          const transactions = ids.map(({ userId, lines }) =>
            runWithLines(lines, () =>
              store.transaction(async (tx) => {
                await tx.users.lock(userId);
                report.info({}, `for user ${userId}`);
              }, priorityOf(userId)),
            ),
          );
          await Promise.all(transactions);
          for (const { userId, lines } of ids) {
            // A transaction may run more than once, and writes its line each time.
            assert.deepEqual(new Set(lines.lines.map(({ sentence }) => sentence)), new Set([`for user ${userId}`]));
          }
        }
      }),
    );
  }

  it("are not those of work for all tenants that the request has woken", async () => {
    const { report, written } = logged();
    const lines = openLines();
    const fails = async () => Promise.reject(new Error("no store"));
    const store = { isShared: false, read: fails, transaction: fails } as unknown as SenderParts["store"];
    const runtime = { ...processRuntime(report), outsideRequests: runOutsideRequests };
    const parts = { store, runtime, addressOf: fails, onLimitReached: () => undefined };
    const hub = new EventHub(parts as unknown as HubParts);
    const sender = new WebhookSender(parts as unknown as SenderParts);
    const reporter = new Reporter(parts as unknown as ReporterParts);
    const reader = {
      catchUp: async () => true,
      after: logStart,
      parts: { writer: { closed: new AbortController().signal } },
    };
    await runWithLines(lines, async () => {
      await hub.serve(reader as unknown as EventReader);
      sender.wake();
      reporter.wake();
      for (let turns = 0; written().length < 3 && turns < 10_000; turns++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await Promise.all([hub.stop(), sender.stop(), reporter.stop()]);
    assert.deepEqual(lines.lines, []);
    assert.deepEqual(
      written().map(({ requestId }) => requestId ?? null),
      [null, null, null],
    );
  });

  it("end with the request, although what it has started goes on", async () => {
    const { report, written } = logged();
    const lines = openLines();
    const later = Promise.withResolvers<void>();
    const started = runWithLines(lines, async () => {
      await later.promise;
      report.info({}, "later");
    });
    lines.isOpen = false;
    later.resolve();
    await started;
    assert.deepEqual(lines.lines, []);
    assert.equal(written()[0].requestId, undefined);
  });

  it("are only those that the log's level lets through", () => {
    const { report } = logged("warn");
    const lines = openLines();
    runWithLines(lines, () => {
      report.info({}, "left out");
      report.error({}, "written");
    });
    assert.deepEqual(
      lines.lines.map(({ sentence }) => sentence),
      ["written"],
    );
  });

  it("are redacted as the log is, and say the same as the log", () => {
    const { report, written } = logged();
    const lines = openLines();
    const fields = {
      accessToken: "s3cret",
      request: { secToken: "s3cret", inner: [{ secret: { value: "s3cret" } }] },
      error: Object.assign(new Error("outer", { cause: new Error("inner") }), { token: "s3cret" }),
    };
    runWithLines(lines, () => {
      report.error(fields, "with secrets");
      report.info({ password: "s3cret" }, "with a short one");
    });
    assert.ok(!JSON.stringify(lines.lines).includes("s3cret"));
    const recent = new RecentRequests(Date.now);
    recent.add({ ...request("r1"), lines: lines.lines });
    const [found] = recent.find({ requestId: "r1" }, 1);
    assert.deepEqual(
      found!.lines!.map(({ level, sentence, fields: text }) => ({ level, ...JSON.parse(text), message: sentence })),
      written().map(({ time: _, ...line }) => line),
    );
  });

  it("are bounded in number and length", () => {
    const { report } = logged();
    const lines = openLines();
    runWithLines(lines, () => {
      for (let at = 0; at < lineBounds.perRequest + 5; at++) report.info({ text: "x".repeat(50_000) }, "long");
    });
    assert.equal(lines.lines.length, lineBounds.perRequest);
    for (const { fields } of lines.lines) assert.equal((fields as string).length, lineBounds.bytes);
  });

  it("are forgotten oldest first when all together are too long, and the records stay", () => {
    const long = [keptLine(1, "error", "failed", { error: new Error("x".repeat(900)) })];
    const plain = [keptLine(1, "info", "answered", { status: 200 })];
    const recent = new RecentRequests(Date.now, { perTenant: 10, inAll: 10, tenants: 2 }, new LineMemory(5_000));
    recent.add({ ...request("plain"), lines: plain });
    for (const id of ["a", "b", "c", "d"]) recent.add({ ...request(id), lines: long });
    const linesOf = (requestId: string) => recent.find({ requestId }, 1)[0]!.lines!.length;
    assert.deepEqual(["plain", "a", "d"].map(linesOf), [1, 0, 1]);
    for (let at = 0; at < 30; at++) recent.add({ ...request(`later ${at}`), lines: long });
    assert.equal(linesOf("later 29"), 1);
  });

  it("are not sent with a list", () => {
    const recent = new RecentRequests(Date.now);
    recent.add({ ...request("r1"), lines: [keptLine(1, "info", "answered", {})] });
    assert.deepEqual(Object.keys(recent.find({}, 1)[0]!).includes("lines"), false);
  });
});
