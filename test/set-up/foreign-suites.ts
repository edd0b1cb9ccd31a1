/**
 * Programs of other people that meet the service: clients, bundlers, judges. `npm test` keeps one of each kind.
 * `npm run foreign` runs all, and so does `npm run test:all`.
 */

/** Files that `npm test` leaves out, each with the tests of `npm test` that cover its subject. */
export const foreignSuites: Readonly<Record<string, string>> = {
  "test/http/openapi-judges.test.ts": "test/http/openapi.test, test/http/documented-answers",
  "test/oauth/foreign-clients/auth-js.test.ts": "test/oauth/foreign-clients/oauth4webapi, test/interface/amendments",
  "test/oauth/foreign-clients/badgateway.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/oauth/foreign-clients/client-oauth2.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/oauth/foreign-clients/google-auth-library.test.ts":
    "test/oauth/foreign-clients/oauth4webapi, test/oauth/rotation",
  "test/oauth/foreign-clients/grant.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/oauth/foreign-clients/openid-client.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/oauth/foreign-clients/passport-oauth2.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/oauth/foreign-clients/simple-oauth2.test.ts": "test/oauth/foreign-clients/oauth4webapi",
  "test/sdk/bundling.test.ts": "test/sdk/flow",
  "test/sdk/package.test.ts": "test/sdk/flow",
};

/** Files of both commands: the one of its kind. The readers of event streams are all in one file, which runs one or all. */
export const dailyForeignSuites: readonly string[] = [
  "test/events/foreign-readers.test.ts",
  "test/http/openapi.test.ts",
  "test/oauth/foreign-clients/oauth4webapi.test.ts",
  "test/simulator/foreign-clients.test.ts",
  "test/simulator/google-rest-client.test.ts",
  "test/stories/foreign-platform-clients.test.ts",
];
