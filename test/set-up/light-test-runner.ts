import { createRequire } from "node:module";

/**
 * Preloaded into every test process. Node's test runner follows each promise of the process with async_hooks, to find the
 * test that an uncaught error or a nested `it` belongs to. That costs up to a quarter of the CPU time of tests with many
 * promises. Our tests declare everything synchronously, so that it is enough to know the tests themselves. An error that
 * nothing catches still fails the run, but without the name of its test: `TEST_HOOKS=full` brings that back.
 */
interface Hooks {
  readonly init?: (asyncId: number, type: string, triggerAsyncId: number, resource: object) => void;
}

const asyncHooks: { createHook: unknown; AsyncResource: typeof import("node:async_hooks").AsyncResource } =
  createRequire(import.meta.url)("node:async_hooks");

if (process.env.TEST_HOOKS !== "full") {
  const { AsyncResource, createHook } = asyncHooks;
  let init: Hooks["init"];
  asyncHooks.createHook = (hooks: Hooks) => {
    // The first caller is the test runner; others get real hooks.
    asyncHooks.createHook = createHook;
    init = hooks.init;
    return { enable: () => undefined, disable: () => undefined };
  };
  asyncHooks.AsyncResource = class extends AsyncResource {
    constructor(...options: ConstructorParameters<typeof AsyncResource>) {
      super(...options);
      if (options[0] === "Test") init?.(this.asyncId(), "Test", 0, this);
    }
  };
}
