import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MatchCaller, MatchTurns } from "../../src/alerts/match-turns.ts";
import { inlineSteps, type Judgement, Matching } from "../../src/alerts/matching.ts";
import type { PatternAnswer, PatternJob, PatternWork } from "../../src/alerts/pattern-cache.ts";
import type { Patterns } from "../../src/alerts/patterns.ts";
import { inAttempts, type WorkOptions } from "../../src/devices/attempts.ts";
import { PatternsUnavailable } from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { Store } from "../../src/store/seam.ts";

const userId = 7 as UserId;
const tenantId = 3 as TenantId;
const regex = (pattern: string) => ({ operation: "regex", pattern }) as const;

/** A pattern by its figures. It matches the value that it is named after. */
interface Fact {
  readonly size: number;
  /** The steps that compiling it takes; 0: it is in memory. */
  readonly compile?: number;
  /** Its size is not known before it was compiled. */
  readonly isNew?: true;
}

type Questions = readonly (readonly [pattern: string, value: string])[];

/** Matching of patterns with given figures. `work` stands for the thread; without it each question is answered. */
function made(facts: Readonly<Record<string, Fact>>, work?: PatternWork["run"]) {
  const known = new Set(Object.keys(facts).filter((pattern) => !facts[pattern]!.isNew));
  const compiled: string[] = [];
  const remembered: string[] = [];
  const matched: string[] = [];
  const patterns = {
    matches(pattern: string, value: string) {
      matched.push(pattern);
      return value.startsWith(pattern);
    },
    isTooCostly: () => false,
    costOf: () => 1,
    stepsToCompile: (pattern: string) => facts[pattern]?.compile ?? 0,
    knownSize: (pattern: string) => (known.has(pattern) ? facts[pattern]!.size : undefined),
    sizeOf(pattern: string) {
      compiled.push(pattern);
      known.add(pattern);
      return facts[pattern]!.size;
    },
    remember: (pattern: string, size: number) => void remembered.push(`${pattern} ${size}`),
  } as unknown as Patterns;
  const jobs: (readonly string[])[] = [];
  const answer: PatternWork["run"] = async ({ values, questions }) =>
    questions.map(({ pattern, valueIndex }) => ({
      size: facts[pattern]!.size,
      isMatch: values[valueIndex]!.startsWith(pattern),
    }));
  const run: PatternWork["run"] = (job) => {
    jobs.push(job.questions.map(({ pattern }) => pattern));
    return (work ?? answer)(job);
  };
  const callers: MatchCaller[] = [];
  let admits = true;
  const turns = {
    mayAdmit: () => admits,
    admit(caller: MatchCaller, task: () => Promise<unknown>) {
      callers.push(caller);
      return task();
    },
    run: (_: MatchCaller, task: (work: PatternWork) => Promise<unknown>) => task({ run }),
  } as unknown as MatchTurns;
  const matching = (isDeferring = true) =>
    new Matching({ patterns, turns, isDeferring, tenantOf: async () => tenantId });
  const spent: number[] = [];
  const budget = {
    mayCompile: () => true,
    maySpend: (steps: number) => {
      spent.push(steps);
      return true;
    },
  };
  /** What the attempts of one transaction say about these values of these patterns; `later` are asked behind the first one. */
  const judge = async (questions: Questions, options: WorkOptions = {}, isDeferring = true, later: Questions = []) => {
    const attempts: (readonly Judgement[])[] = [];
    const judging = matching(isDeferring);
    const store = { transaction: (body: (tx: object) => unknown) => body({}) } as unknown as Store<object>;
    await inAttempts(
      store,
      async (tx) => {
        const asked = attempts.length === 0 ? questions : [...questions, ...later];
        attempts.push(asked.map(([pattern, value]) => judging.judge(tx, budget, userId, regex(pattern), value)));
      },
      undefined,
      options,
    );
    return attempts;
  };
  const refuseAlarms = () => {
    admits = false;
  };
  return { ...{ judge, matching, jobs, callers, compiled, remembered, matched, spent, answer }, refuseAlarms };
}

const characters = (count: number, first = "") => first.padEnd(count, "-");

describe("a match within a transaction", () => {
  it("is made in place while the steps of the transaction, compiling included, are at most 50,000", async () => {
    const facts = { a: { size: 10, compile: 30_000 }, b: { size: 1 } };
    const exact = made(facts);
    const [a, b] = [characters(1_999, "a"), characters(10, "b")];
    assert.deepEqual(
      await exact.judge([
        ["a", a],
        ["b", b],
      ]),
      [[true, true]],
    );
    assert.deepEqual([exact.jobs, exact.spent], [[], [19_990, 10]]);
    const beyond = made(facts);
    assert.deepEqual(
      await beyond.judge([
        ["a", a],
        ["b", `${b}-`],
      ]),
      [
        [true, "later"],
        [true, true],
      ],
    );
    assert.deepEqual([beyond.jobs, beyond.matched], [[["b"]], ["a", "a"]]);
  });

  it("compiles a pattern in place only when its size is unknown and the steps allow it", async () => {
    const { judge, compiled, jobs, spent } = made({
      small: { size: 1, compile: 20_000, isNew: true },
      large: { size: 2, compile: 30_000, isNew: true },
      known: { size: 1, compile: 1 },
    });
    const questions = ["small", "known", "large"].map((pattern) => [pattern, pattern] as const);
    assert.deepEqual(await judge(questions), [
      [true, true, "later"],
      [true, true, true],
    ]);
    assert.deepEqual([compiled, jobs], [["small"], [["large"]]]);
    assert.deepEqual(spent, [5, 5, 5, 5, 10], "a pattern of unknown size spends nothing");
  });

  it("is made in place whatever it takes when the matching has no thread", async () => {
    const { judge, jobs } = made({ a: { size: 100, compile: 1_000_000, isNew: true } });
    assert.deepEqual(await judge([["a", characters(8_000, "a")]], {}, false), [[true]]);
    assert.deepEqual(jobs, []);
  });
});

const long = (pattern: string) => [pattern, characters(8_000, pattern)] as const;

describe("the jobs of a transaction for the thread", () => {
  it("have at most 250,000 steps, compiling included, unless one question has more", async () => {
    const fresh = { size: 1, compile: 60_000, isNew: true } as const;
    const names = ["p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    const value = "value";
    // Each takes 10,000 and 60,000 steps.
    const { judge, jobs } = made(Object.fromEntries(names.map((name) => [name, fresh])));
    await judge(names.map((name) => [name, value]));
    assert.deepEqual(jobs.slice(0, 3), [["p1", "p2", "p3"], ["p4", "p5", "p6"], ["p7"]]);

    const exact = made({
      huge: { size: 50 },
      half: { size: 10, compile: 45_000 },
      other: { size: 10, compile: 45_000 },
    });
    const same = characters(8_000, "h");
    await exact.judge(["huge", "half", "other"].map((name) => [name, same]));
    assert.deepEqual(exact.jobs, [["huge"], ["half", "other"]]);
  });

  it("have at most 64 questions, and ask for each once", async () => {
    const names = Array.from({ length: 130 }, (_, nth) => `p${nth}`);
    const { judge, jobs, remembered } = made({
      first: { size: 1 },
      ...Object.fromEntries(names.map((name) => [name, { size: 1 }])),
    });
    const value = characters(inlineSteps, "p");
    const attempts = await judge([["first", value], ...names.map((name) => [name, "v"] as const)]);
    assert.deepEqual(
      jobs.map(({ length }) => length),
      [64, 64, 2],
    );
    assert.deepEqual([attempts[0]?.[1], attempts[1]?.[1], remembered.length], ["later", false, 130]);
    assert.equal(remembered[0], "p0 1");
  });

  it("ask for nothing that was answered, and again for a match of which only the size was answered", async () => {
    const fresh = { size: 1, compile: 60_000, isNew: true } as const;
    const { judge, jobs, spent } = made({ a: fresh, b: fresh });
    assert.deepEqual(await judge([["a", "a"]], {}, true, [["b", "a"]]), [["later"], [true, "later"], [true, false]]);
    assert.deepEqual(
      [jobs, spent],
      [
        [["a"], ["b"]],
        [1, 1, 1],
      ],
    );
    const twice = made(
      { a: { size: 10, compile: 60_000, isNew: true }, b: { size: 10, compile: 60_000, isNew: true } },
      async (job) => {
        const first = twice.jobs.length <= 1;
        return twice
          .answer(job)
          .then((answers) => answers!.map(({ size, isMatch }) => ({ size, isMatch: first ? null : isMatch })));
      },
    );
    assert.deepEqual(await twice.judge([["a", "a"]]), [["later"], ["later"], [true]]);
    assert.deepEqual(twice.jobs, [["a"], ["a"]]);
    assert.deepEqual(twice.spent, [10, 10], "the size of the first answer counts, also if the node has forgotten it");
  });

  it("are asked question by question when the thread fails, and only the one that ends it stops its alert", async () => {
    const fresh = { size: 1, compile: 60_000, isNew: true } as const;
    const { judge, jobs, remembered, answer } = made({ a: fresh, fatal: fresh, c: fresh }, async (job) =>
      job.questions.some(({ pattern }) => pattern === "fatal") ? undefined : answer(job),
    );
    const questions = ["a", "fatal", "c"].map((pattern) => [pattern, "a"] as const);
    assert.deepEqual(await judge(questions), [
      ["later", "later", "later"],
      [true, "stopped", false],
    ]);
    assert.deepEqual(jobs, [["a", "fatal", "c"], ["a"], ["fatal"], ["c"]]);
    assert.deepEqual(remembered, ["a 1", "c 1"]);
    const alone = made({ fatal: fresh }, async () => undefined);
    assert.deepEqual(await alone.judge([["fatal", "a"]]), [["later"], ["stopped"]]);
    assert.equal(alone.jobs.length, 1);
  });

  it("end with the first when no thread can be started; another error fails the transaction", async () => {
    const facts = { a: { size: 100 }, b: { size: 100 } };
    const none = made(facts, () => Promise.reject(new PatternsUnavailable("No thread.")));
    assert.deepEqual(await none.judge([long("a"), long("b")]), [
      ["later", "later"],
      ["no thread", "no thread"],
    ]);
    assert.deepEqual([none.jobs.length, none.remembered], [1, []]);
    const broken = made(facts, () => Promise.reject(new Error("broken")));
    await assert.rejects(broken.judge([long("a")]), /broken/);
  });

  it("wait in the name of the user: of alarms, of changes that can be refused, or of others", async () => {
    const { judge, callers, refuseAlarms } = made({ a: { size: 100 } });
    const { signal: abandoned } = new AbortController();
    const { signal: becomesUrgent } = new AbortController();
    const options = { abandoned, becomesUrgent };
    await judge([long("a")], { ...options, urgent: true });
    await judge([long("a")], { ...options, mayRefuse: true });
    await judge([long("a")], { ...options, mayRefuse: true, urgent: true });
    refuseAlarms();
    await judge([long("a")], { ...options, mayRefuse: true, urgent: true });
    const limit = {
      name: "changesWaiting",
      sentence:
        "Too many changes of this user wait for costly patterns of alerts. Nothing was changed. Try again later.",
    } as const;
    const change = { tenantId, name: "changes of user 7", becomesUrgent, disconnected: abandoned };
    assert.deepEqual(callers, [
      { ...change, urgent: true },
      { ...change, limit },
      { tenantId, name: "alarms of user 7", urgent: true, limit },
      { ...change, limit },
    ]);
  });
});

describe("a match outside of transactions", () => {
  const most = limits.patternStepsPerExplanation;

  it("is made at once if it takes at most 50,000 steps, compiling included", () => {
    const { matching, compiled } = made({
      known: { size: 10, compile: 10_000 },
      fresh: { size: 1, compile: 40_000, isNew: true },
      bound: { size: 1, compile: inlineSteps, isNew: true },
      beyond: { size: 1, compile: inlineSteps + 1, isNew: true },
      heavy: { size: 1, compile: inlineSteps + 1 },
    });
    const cheap = (pattern: string, length: number) =>
      matching().judgeCheap(regex(pattern), characters(length, length < pattern.length ? "" : pattern));
    assert.deepEqual([cheap("known", 4_000), cheap("known", 4_001)], [true, undefined]);
    assert.deepEqual([cheap("fresh", 10_000), cheap("fresh", 10_001)], [true, undefined]);
    assert.deepEqual(
      [cheap("bound", 0), cheap("beyond", 0), cheap("heavy", most + 1)],
      [false, undefined, "too many steps"],
    );
    assert.deepEqual(compiled, ["fresh", "bound"], "a pattern is compiled once, and not if that takes long");
    assert.equal(matching().judgeCheap({ operation: "equals", text: "x" }, "x"), true);
    assert.equal(matching().judgeCheap(regex("beyond"), null), false);
  });

  it("is not made when it would take too many steps", () => {
    const { matching } = made({ a: { size: most / 1_000 } });
    assert.equal(matching().judgeCheap(regex("a"), characters(1_000)), undefined, "the thread may make it");
    assert.equal(matching().judgeCheap(regex("a"), characters(1_001)), "too many steps");
  });

  it("asks the thread only for what is costly, and remembers the size", async () => {
    const jobs: PatternJob[] = [];
    const answers: (readonly PatternAnswer[] | undefined)[] = [
      [{ size: 4, isMatch: true }],
      [{ size: 4, isMatch: null }],
      undefined,
    ];
    const work: PatternWork = {
      run: async (job) => {
        jobs.push(job);
        return answers.shift();
      },
    };
    const { matching, remembered } = made({ costly: { size: 1, compile: 60_000, isNew: true }, cheap: { size: 1 } });
    const judgeBy = (pattern: string, value: string) => matching().judgeBy(work, regex(pattern), value);
    assert.deepEqual([await judgeBy("cheap", "cheap"), jobs], [true, []]);
    assert.equal(await matching().judgeBy(work, { operation: "equals", text: "x" }, "y"), false);
    assert.equal(await judgeBy("costly", "x"), true);
    assert.deepEqual(
      [jobs, remembered],
      [[{ values: ["x"], questions: [{ pattern: "costly", valueIndex: 0, mostSteps: most }] }], ["costly 4"]],
    );
    assert.deepEqual([await judgeBy("costly", "x"), await judgeBy("costly", "x")], ["too many steps", "too costly"]);
  });
});
