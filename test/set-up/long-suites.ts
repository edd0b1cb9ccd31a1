/**
 * Suites that `npm run test:all` runs and `npm test` leaves out, each with the tests of `npm test` that cover its subject
 * on a smaller scale. `npm test -- <name>` runs one of them by its name.
 */
export const longSuites: Readonly<Record<string, string>> = {
  "test/browser/second-thoughts.test.ts": "test/browser/flow, test/oauth/bar/login-and-consent",
  "test/cli/newer-store.test.ts": "test/store/schema-steps",
  "test/cli/unknown-links.test.ts": "test/cli/home-commands",
  "test/cli/unknown-values.test.ts": "test/cli/watching",
  "test/crashes/postgres-crash.test.ts": "test/store/crashed-postgres, test/contracts/store-postgres",
  "test/demo/unknown.test.ts": "test/demo/console",
  "test/documents/operations-nodes.test.ts": "test/nodes/three-nodes",
  "test/examples/rule-engine.test.ts": "test/sdk/flow",
  "test/first-minutes/asleep.test.ts": "test/stories/kill",
  "test/isolation/alike.test.ts": "test/isolation/matrix",
  "test/nodes/clocks.test.ts": "test/nodes/store-clock, test/simulate",
  "test/nodes/rolling-upgrade.test.ts": "test/store/schema-steps, test/nodes/membership",
  "test/oauth/access-ends-on-all-nodes.test.ts": "test/oauth/revocation-over-nodes",
  "test/sdk/bundling.test.ts": "test/sdk/flow, test/sdk/package",
  "test/stories/backup.test.ts": "test/store/backup",
  "test/stories/migrate.test.ts": "test/store/migrate",
  "test/stories/unwritable-store.test.ts": "test/store/read-only-postgres, test/store/writability",
  "test/verify/command.test.ts": "test/verify/verify",
};
