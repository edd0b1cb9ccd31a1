/** A folder of the product that is mutated, and the tests that are run against its mutants. */
export interface MutatedFolder {
  readonly source: string;
  /** The tests of this folder's subject. */
  readonly near: readonly string[];
  /** Tests of its callers: tried only against mutants that survive the near ones. */
  readonly far: readonly string[];
  /** How many of its mutants a run without a path tries. */
  readonly tried: "all" | number;
}

const operatorTests = "test/operators/!(openid|remote-commands).test.ts";
const googleTests = "test/assistants/google-*.test.ts";
const alexaTests = "test/assistants/alexa/*.test.ts";
const reporterTests = "test/assistants/{outlet-check,random-homes,report*}.test.ts";

/** Tests that run in one process on SQLite. Tests that need PostgreSQL, a browser or other nodes are left out by name. */
export const mutatedFolders: readonly MutatedFolder[] = [
  {
    source: "src/model",
    near: ["test/model/*.test.ts"],
    far: ["test/{devices,alerts,federation,ecosystems,platform}/*.test.ts", "test/http/v3-*.test.ts"],
    tried: "all",
  },
  {
    source: "src/home",
    near: ["test/home/*.test.ts", "test/source-rules/trait-tables.test.ts"],
    far: ["test/{virtual-device,federation,ecosystems}/*.test.ts", "test/http/v3-*.test.ts"],
    tried: "all",
  },
  {
    source: "src/virtual-device",
    near: ["test/virtual-device/*.test.ts", "test/source-rules/attribute-tables.test.ts"],
    far: ["test/{devices,alerts,federation,ecosystems,platform}/*.test.ts", "test/http/v3-*.test.ts"],
    tried: "all",
  },
  {
    source: "src/devices",
    near: ["test/devices/*.test.ts", "test/store/states.test.ts", "test/contracts/store-sqlite.test.ts"],
    far: [
      "test/own-things/{own-alarms,own-thing-changes,own-things,type-work}.test.ts",
      "test/provisioning/devices.test.ts",
      "test/{alerts,federation,platform}/*.test.ts",
      "test/http/{v3-*,device-fast-path}.test.ts",
    ],
    tried: "all",
  },
  {
    source: "src/own-things",
    near: ["test/own-things/*.test.ts", "test/devices/things.test.ts"],
    far: [
      "test/contracts/store-sqlite.test.ts",
      "test/http/v3-*.test.ts",
      "test/provisioning/{devices,operator-devices,states}.test.ts",
      "test/stories/{own-things-commanded,alerts-that-command}.test.ts",
      "test/sdk/{device-types,own-devices}.test.ts",
    ],
    tried: "all",
  },
  {
    source: "src/provisioning",
    near: [
      "test/provisioning/{costly-states,costly-turns,devices,operator-devices,partly-written-states,states}.test.ts",
    ],
    far: ["test/devices/attribute-limits.test.ts", "test/own-things/*.test.ts", "test/http/v3-*.test.ts"],
    tried: "all",
  },
  {
    source: "src/alerts",
    near: ["test/alerts/*.test.ts"],
    far: ["test/contracts/store-sqlite.test.ts", "test/http/v3-*.test.ts", "test/platform/triggers.test.ts"],
    tried: "all",
  },
  {
    source: "src/oauth",
    near: ["test/oauth/!(access-ends-on-all-nodes|kill|revocation-over-nodes).test.ts", "test/oauth/bar/*.test.ts"],
    far: [
      "test/oauth/foreign-clients/oauth4webapi.test.ts",
      "test/identity/*.test.ts",
      "test/events/{events,scopes,webhooks}.test.ts",
    ],
    tried: 100,
  },
  {
    source: "src/federation",
    near: ["test/federation/!(ecosystem-renewal|renewal-over-nodes).test.ts"],
    far: [
      "test/stories/{emergency,fan-requests,federation,indexes,thing-commands,things,unlinking,v3,what-happens}.test.ts",
    ],
    tried: 100,
  },
  {
    source: "src/store/tables",
    near: ["test/contracts/{store-sqlite,webhooks}.test.ts"],
    far: [
      "test/{store,identity,idempotency,alerts,devices,federation,events,own-things,link-sessions}/*.test.ts",
      "test/provisioning/{devices,operator-devices,states}.test.ts",
      "test/http/v3-*.test.ts",
      "test/oauth/{rotation,sweep,token-edges,token-limits}.test.ts",
    ],
    tried: 100,
  },
  {
    source: "src/store/groups",
    near: ["test/store/group-{members,queue}.test.ts"],
    far: [],
    tried: 40,
  },
  {
    source: "src/operators",
    near: [operatorTests],
    far: ["test/cli/administration.test.ts", "test/console/{administration,operating}.test.ts"],
    tried: 40,
  },
  {
    source: "src/outlets/admin",
    near: [operatorTests],
    far: ["test/http/openapi*.test.ts"],
    tried: 20,
  },
  {
    source: "src/account",
    near: ["test/account/account*.test.ts"],
    far: ["test/identity/*.test.ts", "test/oauth/{pages,watched-grants}.test.ts"],
    tried: 40,
  },
  {
    source: "src/outlets/account",
    near: ["test/account/account*.test.ts"],
    far: [],
    tried: 20,
  },
  {
    source: "src/assistants",
    near: [googleTests, alexaTests, reporterTests],
    far: [],
    tried: 60,
  },
  {
    source: "src/outlets/alexa",
    near: [alexaTests],
    far: [],
    tried: 20,
  },
  {
    source: "src/outlets/google-home",
    near: [googleTests],
    far: [],
    tried: 20,
  },
  {
    source: "src/link-sessions",
    near: ["test/link-sessions/*.test.ts"],
    far: ["test/contracts/store-sqlite.test.ts"],
    tried: 40,
  },
  {
    source: "src/quotas",
    near: ["test/quotas/quota{s,-settings}.test.ts"],
    far: ["test/quotas/quotas-over-http.test.ts", "test/provisioning/addition-limits.test.ts"],
    tried: 40,
  },
  {
    source: "src/requests",
    near: ["test/requests/*.test.ts"],
    far: ["test/cli/request-commands.test.ts", "test/console/requests.test.ts"],
    tried: 40,
  },
];
