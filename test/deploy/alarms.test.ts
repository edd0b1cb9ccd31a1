import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { ensurePromtool, missingPromtool } from "../set-up/promtool.ts";
import { type AlarmCase, alarmCases } from "./alarm-cases.ts";
import { readYaml } from "./read-yaml.ts";

const root = new URL("../..", import.meta.url).pathname;
const rulesFile = join(root, "deploy/prometheus/rules.yml");
// biome-ignore lint/suspicious/noExplicitAny: documents from files; what they hold is what the tests look at
type Document = any;
const [{ groups }] = readYaml(readFileSync(rulesFile, "utf8")) as [Document];
const rules: readonly Document[] = groups[0].rules;
const names: readonly string[] = rules.map((rule) => rule.alert);

describe("the alarms for Prometheus", { skip: missingPromtool() }, () => {
  it("are valid, and fire when they should and only then", (t) => {
    assert.deepEqual(Object.keys(alarmCases).sort(), [...names].sort(), "an alarm without a case");
    promtool("check", "rules", rulesFile);
    const folder = folderOf(t);
    const expected = Object.entries(alarmCases).flatMap(([alert, { fires, quiet, labels, isSlow = false }]) => [
      { alert, series: fires, labels, isSlow },
      { alert, series: quiet, labels: undefined, isSlow },
    ]);
    for (const [isSlow, time] of [
      [false, { evaluation_interval: "1m", at: "88m" }],
      [true, { evaluation_interval: "30m", at: "28h" }],
    ] as const) {
      const worlds = togetherIn(expected.filter((one) => one.isSlow === isSlow));
      const tests = worlds.map((world) => ruleTest(world, time.at));
      const file = join(folder, `alarms-${time.at}.json`);
      writeFileSync(
        file,
        JSON.stringify({ rule_files: [rulesFile], evaluation_interval: time.evaluation_interval, tests }),
      );
      promtool("test", "rules", file);
    }
  });

  it("are read by a Prometheus that is configured as the sample is", (t) => {
    const folder = folderOf(t);
    const token = join(folder, "metrics-token");
    writeFileSync(token, "a token\n");
    const sample = readFileSync(join(root, "deploy/prometheus/prometheus.yml"), "utf8");
    mkdirSync(join(folder, "sample"));
    const file = join(folder, "sample/prometheus.yml");
    writeFileSync(file, sample.replace("/run/secrets/metrics-token", token).replace("- rules.yml", `- ${rulesFile}`));
    assert.match(
      promtool("check", "config", file),
      new RegExp(`1 rule files found[\\s\\S]*${rules.length} rules found`),
    );
  });
});

describe("the page for operators", () => {
  it("explains every alarm of the rules, and no other", () => {
    const page = readFileSync(join(root, "docs/operations.md"), "utf8");
    const explained = [...page.matchAll(/^\| `(Breezeway\w+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(explained, names);
  });
});

function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(ensurePromtool(), args, { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

/** An alarm, the figures that it is looked at with, and the labels that it has; undefined when it stays quiet. */
interface Expected {
  readonly alert: string;
  readonly series: AlarmCase["fires"];
  readonly labels: string | undefined;
}

/** Alarms that read different figures are tried in one world: promtool needs a moment for each world. */
function togetherIn(expected: readonly Expected[]): readonly Expected[][] {
  const worlds: { readonly cases: Expected[]; readonly figures: Set<string> }[] = [];
  for (const one of expected) {
    const figures = Object.keys(one.series).map((name) => name.split("{")[0]!);
    let world = worlds.find((other) => figures.every((figure) => !other.figures.has(figure)));
    if (!world) {
      world = { cases: [], figures: new Set() };
      worlds.push(world);
    }
    world.cases.push(one);
    for (const figure of figures) world.figures.add(figure);
  }
  return worlds.map(({ cases }) => cases);
}

function ruleTest(cases: readonly Expected[], at: string) {
  return {
    interval: "1m",
    input_series: cases.flatMap(({ series }) =>
      Object.entries(series).map(([name, values]) => ({ series: name, values })),
    ),
    promql_expr_test: cases.map(({ alert, labels }) => {
      const { severity } = rules.find((rule) => rule.alert === alert).labels;
      const own = `alertname="${alert}", alertstate="firing", severity="${severity}"`;
      const fired = { labels: `ALERTS{${labels ? `${own}, ${labels}` : own}}`, value: 1 };
      return {
        expr: `ALERTS{alertname="${alert}", alertstate="firing"}`,
        eval_time: at,
        exp_samples: labels === undefined ? [] : [fired],
      };
    }),
  };
}
