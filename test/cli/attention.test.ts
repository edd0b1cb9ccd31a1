import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ActParts, AdminCommand, AdministrationParts } from "../../src/cli/administration/admin-command.ts";
import type { DeploymentFacts, EcosystemFacts } from "../../src/cli/administration/overview-parts.ts";
import { activity } from "../../src/cli/nouns/overview/activity.ts";
import { attention } from "../../src/cli/nouns/overview/attention.ts";
import { ofDeployment } from "../../src/cli/nouns/overview/attention-deployment.ts";
import { HourlyCounts } from "../../src/metrics/hourly-counts.ts";
import { type ActivityParts, activityOn } from "../../src/service/activity.ts";
import { type DeploymentParts, deploymentFacts } from "../../src/service/deployment-facts.ts";

const day = 86_400_000;
const well: DeploymentFacts = {
  nodes: async () => [{ node: "n1", isThis: true, silentMs: 10, links: 1, schemaVersion: 1 }],
  store: async () => assert.fail("is not asked"),
  disk: async () => ({ freeBytes: 2 * 1024 ** 3, totalBytes: 9 * 1024 ** 3 }),
  certificate: async () => undefined,
  lastBackupMs: async () => Date.now() - 1_000,
  limits: async () => ({}),
  missingKeys: async () => 0,
  settings: [],
  version: "1",
  ecosystems: [],
  examine: async () => assert.fail("is not asked"),
};

const nest = { ecosystem: "nest", name: "Nest", hasLinkPage: true };

function findings(
  facts: Partial<DeploymentFacts>,
  limits: Record<string, number[]> = {},
  hasLinks = true,
  ecosystems: readonly EcosystemFacts[] = [nest],
) {
  const parts = {
    deployment: { ...well, limits: async () => limits, ...facts },
    ecosystems,
  } as unknown as AdministrationParts;
  return ofDeployment(parts, hasLinks);
}

const kinds = async (...given: Parameters<typeof findings>) =>
  (await findings(...given)).map(({ kind, level }) => `${kind} ${level}`);

describe("what needs attention of the service itself", () => {
  it("is nothing when all is well, and nothing of it is told to an operator who does not reach it", async () => {
    assert.deepEqual(await kinds({}), []);
    assert.deepEqual(await ofDeployment({ deployment: undefined } as AdministrationParts, true), []);
  });

  it("is a full disk, an ending certificate, a missing key, a silent node, stopped alerts and an old backup", async () => {
    const free = (freeBytes: number) => ({ disk: async () => ({ freeBytes, totalBytes: 1e12 }) });
    assert.deepEqual(await kinds(free(1024 ** 3 - 1)), ["disk warn"]);
    assert.deepEqual(await kinds(free(1_000)), ["disk bad"]);
    const ending = (inMs: number) => ({ certificate: async () => ({ endsMs: Date.now() + inMs }) });
    assert.deepEqual(await kinds(ending(15 * day)), []);
    assert.deepEqual(await kinds(ending(10 * day)), ["certificate warn"]);
    assert.deepEqual(await kinds(ending(-day)), ["certificate bad"]);
    assert.deepEqual(await kinds({ missingKeys: async () => 2 }), ["key bad"]);
    const silent = { node: "n2", isThis: false, silentMs: 7_000, links: 0, schemaVersion: 1 };
    assert.deepEqual(await kinds({ nodes: async () => [silent] }), ["node warn"]);
    assert.deepEqual(await kinds({}, { alertHopsPerCause: [0, 2], webhooksPerOwner: [5] }), ["alert_limit warn"]);
    assert.deepEqual(await kinds({ lastBackupMs: async () => Date.now() - 3 * day }), ["backup warn"]);
    assert.deepEqual(await kinds({ lastBackupMs: async () => undefined }, {}, false), [], "nothing is linked yet");
  });

  it("is a service without an ecosystem, unless the operator has chosen that", async () => {
    const from = (source: string) => ({ settings: [{ variable: "BREEZEWAY_ECOSYSTEMS", value: "", from: source }] });
    const without = [{ ...nest, hasLinkPage: false }];
    assert.deepEqual(await kinds(from("default"), {}, true, without), ["ecosystem warn"]);
    assert.deepEqual(await kinds(from("default")), []);
    assert.deepEqual(await kinds(from("environment"), {}, true, without), []);
  });

  it("is also what can't be read: unknown is not fine", async () => {
    const fails = async () => {
      throw new Error("no such device");
    };
    const [found, ...others] = await findings({ disk: fails });
    assert.deepEqual([found?.kind, found?.level, others], ["unknown_disk", "bad", []]);
    assert.match(found!.sentence, /free space of the disk could not be read: no such device/);
    const all = {
      disk: fails,
      certificate: fails,
      missingKeys: fails,
      nodes: fails,
      lastBackupMs: fails,
      limits: fails,
    };
    assert.equal((await kinds(all)).length, 6);
  });
});

describe("a webhook that needs attention", () => {
  it("is named with the answer to the message that is retried, which may be older than all recent ones", async () => {
    const webhook = { id: "wh_1", clientId: "bwc_1" };
    const recent = Array.from({ length: 20 }, () => ({ state: "waiting", text: null }));
    const record = { webhook, url: "https://a.example", waiting: 1_000, recent, nextRetry: { text: "answered 500" } };
    const parts = {
      linkCounts: async () => new Map(),
      webhooks: { list: async ({ only }: { only: string }) => (only === "failing" ? [record] : []) },
      clients: { listClients: async () => [{ id: "bwc_1", name: "Voice" }] },
      assistants: { grants: { failing: async () => [] } },
      homes: { alarms: async () => ({ things: [], isComplete: true }) },
    };
    const [show] = attention.commands as [AdminCommand];
    const { answer } = await show.act(parts as unknown as ActParts, {}, undefined, () => undefined);
    const { findings: found } = answer as { readonly findings: readonly { readonly sentence: string }[] };
    const sentence = "The webhook https://a.example of Voice fails: answered 500. Messages that wait: 1,000 or more.";
    assert.deepEqual(
      found.map((one) => one.sentence),
      [sentence],
    );
  });
});

describe("what the command attention prints", () => {
  it("names the commands for a backup, which the console has a button for", () => {
    const [show] = attention.commands as [AdminCommand];
    const backup = { kind: "backup", level: "warn", count: null, id: null, sentence: "No backup is known.", fix: "" };
    const text = show.toText({ findings: [backup], coversService: true }, {}, 80);
    assert.match(text, /breezeway backup --to FILE.*breezeway backed-up$/);
  });
});

describe("counts of the last 24 hours", () => {
  const [show] = activity.commands as [AdminCommand];
  const store = { read: async () => undefined };

  it("are unknown when no node runs, as for a command beside a stopped service", async () => {
    const nodes = { onQuestion: () => undefined, ask: async () => ({ answers: new Map(), silentNodes: [] }) };
    const { ofNodes } = activityOn({ store, nodes, elapsedMs: () => 0 } as unknown as ActivityParts);
    assert.equal(await ofNodes(), undefined);
  });

  it("are unknown when a node runs and does not answer", async () => {
    const silentNodes = ["n2"];
    const ask = async () => ({ answers: new Map(), silentNodes });
    const nodes = { onQuestion: () => undefined, ask };
    const { ofNodes } = activityOn({ store, nodes, elapsedMs: () => 0 } as unknown as ActivityParts);
    assert.deepEqual(await ofNodes(), { limits: {}, silent: silentNodes });
    const parts = { config: { ecosystems: [] }, countsOfNodes: ofNodes } as unknown as DeploymentParts;
    const { limits } = deploymentFacts(parts);
    const [found] = await findings({ limits });
    assert.deepEqual([found?.kind, found?.level], ["unknown_alerts", "bad"]);
    assert.match(found!.sentence, /did not answer: n2/);
    const ofService = { activity: async () => ({ sinceMs: 0, nodes: await ofNodes() }) };
    const { answer } = await show.act(ofService as unknown as ActParts, {}, undefined, () => undefined);
    assert.deepEqual(answer, { since: "1970-01-01T00:00:00.000Z", silentNodes });
    const none = {
      signIns: [],
      failedSignIns: [],
      delivered: [],
      failed: [],
      blind: { ms: 0, blindLinks: 0, links: 0 },
    };
    const text = show.toText({ ...answer, ...none, linkStates: { states: [], isCounted: [] } }, {}, 80);
    assert.match(text, /not counted +changes on n2: no answer/);
  });

  it("move on with the hours, and forget what is older than a day", () => {
    let nowMs = 100 * 3_600_000;
    const counts = new HourlyCounts(() => nowMs);
    counts.add("changes", 2);
    counts.add("changes");
    nowMs += 3_600_000;
    counts.add("changes", 5);
    const shown = counts.all().changes!;
    assert.deepEqual([shown.length, shown.at(-2), shown.at(-1)], [24, 3, 5]);
    nowMs += 22 * 3_600_000;
    assert.deepEqual(counts.all().changes!.slice(0, 3), [3, 5, 0]);
    nowMs += 48 * 3_600_000;
    assert.ok(counts.all().changes!.every((count) => count === 0));
    nowMs -= 10 * 3_600_000;
    counts.add("changes");
    assert.equal(counts.all().changes!.at(-1), 1, "a clock that went back counts in the present hour");
  });
});
