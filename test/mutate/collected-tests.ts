import { mock as realMock, type TestContext } from "node:test";

/**
 * Stands in for `node:test` in the test files that a mutant is run against: tests are collected instead of run, so that
 * one process can run each of them many times, alone, against one mutant after another.
 */
export interface CollectedTest {
  /** Unique within its file. */
  readonly name: string;
  readonly run: (context: TestContext) => unknown;
  readonly suites: readonly Suite[];
}

type Body = (context: TestContext) => unknown;
type Options = { readonly skip?: boolean | string; readonly todo?: boolean | string };
type HookKind = "before" | "after" | "beforeEach" | "afterEach";

interface Suite extends Record<HookKind, Body[]> {
  readonly name: string;
  readonly isSkipped: boolean;
}

/** Tests that need a server beside the process: a mutant lives in this process only. */
const needsMore = /postgres|three nodes|chromium|nginx/i;

let suites: readonly Suite[] = [];
let collected: CollectedTest[] = [];

/** Imports one test file and answers its tests. */
export async function collect(url: string): Promise<readonly CollectedTest[]> {
  suites = [newSuite("")];
  collected = [];
  await import(url);
  return collected;
}

export function describe(name: string, ...rest: readonly unknown[]): void {
  const around = suites;
  const { options, body } = optionsAndBody(rest);
  suites = [...suites, newSuite(name, Boolean(options.skip))];
  try {
    (body as () => unknown)();
  } finally {
    suites = around;
  }
}

export function it(name: string, ...rest: readonly unknown[]): void {
  const { options, body } = optionsAndBody(rest);
  const fullName = [...suites.slice(1).map((suite) => suite.name), name].join(" > ");
  if (options.skip || options.todo || suites.some((suite) => suite.isSkipped) || needsMore.test(fullName)) return;
  const same = collected.filter((test) => test.name === fullName || test.name.startsWith(`${fullName} #`)).length;
  collected.push({ name: same === 0 ? fullName : `${fullName} #${same + 1}`, run: body, suites });
}

export const suite = describe;
export const test = it;
export const mock = realMock;
export const before = (body: Body): void => addHook("before", body);
export const after = (body: Body): void => addHook("after", body);
export const beforeEach = (body: Body): void => addHook("beforeEach", body);
export const afterEach = (body: Body): void => addHook("afterEach", body);

function addHook(kind: HookKind, body: Body): void {
  suites.at(-1)![kind].push(body);
}

function newSuite(name: string, isSkipped = false): Suite {
  return { name, isSkipped, before: [], after: [], beforeEach: [], afterEach: [] };
}

function optionsAndBody(rest: readonly unknown[]): { readonly options: Options; readonly body: Body } {
  const body = rest.find((part) => typeof part === "function") ?? (() => undefined);
  return { options: (rest.find((part) => typeof part === "object") ?? {}) as Options, body: body as Body };
}
