import { mock, type TestContext } from "node:test";
import type { CollectedTest } from "./collected-tests.ts";

/** How often the clock below ticks. */
const tickMs = 50;

/**
 * Runs one collected test with the hooks around it and answers its error. A test that does not end within so many ticks
 * fails: a mutant may have it wait for something that never comes. Ticks are counted, not milliseconds: a process that
 * was stopped for a while has not had that time.
 */
export async function runTest(test: CollectedTest, ticks: number): Promise<unknown> {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const noticed = (error: unknown) => void errors.push(error ?? new Error("an empty rejection"));
  process.on("unhandledRejection", noticed);
  process.on("uncaughtException", noticed);
  let left = ticks;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    if (--left > 0) return;
    noticed(new Error("the test did not end"));
    resolve();
  }, tickMs);
  try {
    await Promise.race([runWithHooks(test, stop, noticed), late]);
  } finally {
    clearInterval(timer);
    stop.abort();
    // Rejections that nobody handles are reported after the microtasks of this turn.
    await new Promise((done) => setImmediate(done));
    process.off("unhandledRejection", noticed);
    process.off("uncaughtException", noticed);
  }
  return errors[0];
}

async function runWithHooks(
  { name, run, suites }: CollectedTest,
  stop: AbortController,
  failed: (error: unknown) => void,
): Promise<void> {
  const state = { passed: true };
  const noticed = (error: unknown) => {
    state.passed = false;
    failed(error);
  };
  const { context, end } = makeContext(name, stop, state, noticed);
  const attempt = async (body: (context: TestContext) => unknown) => {
    try {
      await body(context);
    } catch (error) {
      noticed(error);
    }
  };
  for (const suite of suites) for (const hook of suite.before) await attempt(hook);
  for (const suite of suites) for (const hook of suite.beforeEach) await attempt(hook);
  if (state.passed) await attempt(run);
  for (const suite of suites.toReversed()) for (const hook of suite.afterEach) await attempt(hook);
  await end();
  for (const suite of suites.toReversed()) for (const hook of suite.after) await attempt(hook);
}

/** As much of node:test's context as our tests use. */
function makeContext(
  name: string,
  stop: AbortController,
  state: { readonly passed: boolean },
  failed: (error: unknown) => void,
): { readonly context: TestContext; end(): Promise<void> } {
  const endings: (() => unknown)[] = [];
  const mocks = new (mock.constructor as new () => typeof mock)();
  const context = {
    name,
    fullName: name,
    signal: stop.signal,
    mock: mocks,
    get passed() {
      return state.passed;
    },
    after: (body: () => unknown) => void endings.push(body),
    diagnostic: () => undefined,
    async test(inner: string, ...rest: readonly unknown[]) {
      const body = rest.find((part) => typeof part === "function") as (context: TestContext) => unknown;
      await runWithHooks({ name: inner, run: body, suites: [] }, stop, failed);
    },
  };
  return {
    context: context as unknown as TestContext,
    async end() {
      for (const ending of endings) {
        try {
          await ending();
        } catch (error) {
          failed(error);
        }
      }
      mocks.reset();
    },
  };
}
