/** A folder of the product that is mutated, and the tests that are run against its mutants. */
export interface MutatedFolder {
  readonly source: string;
  /** The tests of this folder's subject. */
  readonly near: readonly string[];
  /** Tests of its callers: tried only against mutants that survive the near ones. */
  readonly far: readonly string[];
  /** Whether a run without a path tries only a sample of its mutants. */
  readonly isSampled: boolean;
}

/** How many mutants of the sampled folders one run tries. */
export const sampleSize = 300;

/** Tests that run in one process on SQLite. Tests that need PostgreSQL, a browser or other nodes are left out by name. */
export const mutatedFolders: readonly MutatedFolder[] = [
  {
    source: "src/model",
    near: ["test/model/*.test.ts"],
    far: ["test/{devices,alerts,federation,ecosystems,platform}/*.test.ts", "test/http/v3-*.test.ts"],
    isSampled: false,
  },
  {
    source: "src/home",
    near: ["test/home/*.test.ts", "test/house/trait-tables.test.ts"],
    far: ["test/{virtual-device,federation,ecosystems}/*.test.ts", "test/http/v3-*.test.ts"],
    isSampled: false,
  },
  {
    source: "src/virtual-device",
    near: ["test/virtual-device/*.test.ts", "test/house/attribute-tables.test.ts"],
    far: ["test/{devices,alerts,federation,ecosystems,platform}/*.test.ts", "test/http/v3-*.test.ts"],
    isSampled: false,
  },
  {
    source: "src/devices",
    near: ["test/devices/*.test.ts", "test/store/states.test.ts", "test/contracts/store-sqlite.test.ts"],
    far: ["test/{alerts,federation,platform}/*.test.ts", "test/http/{v3-*,device-fast-path}.test.ts"],
    isSampled: false,
  },
  {
    source: "src/own-things",
    near: ["test/own-things/*.test.ts", "test/devices/things.test.ts"],
    far: [
      "test/contracts/store-sqlite.test.ts",
      "test/http/v3-*.test.ts",
      "test/provisioning/{devices,inventory,states}.test.ts",
      "test/stories/{own-things-commanded,alerts-that-command}.test.ts",
      "test/sdk/{device-types,own-devices}.test.ts",
    ],
    isSampled: false,
  },
  {
    source: "src/provisioning",
    near: ["test/provisioning/{devices,inventory,states}.test.ts"],
    far: ["test/devices/attribute-limits.test.ts", "test/own-things/*.test.ts", "test/http/v3-*.test.ts"],
    isSampled: false,
  },
  {
    source: "src/alerts",
    near: ["test/alerts/*.test.ts"],
    far: ["test/contracts/store-sqlite.test.ts", "test/http/v3-*.test.ts", "test/platform/triggers.test.ts"],
    isSampled: false,
  },
  {
    source: "src/oauth",
    near: ["test/oauth/**/*.test.ts"],
    far: ["test/identity/*.test.ts", "test/events/{events,scopes,webhooks}.test.ts"],
    isSampled: true,
  },
  {
    source: "src/federation",
    near: ["test/federation/*.test.ts"],
    far: [
      "test/stories/{emergency,fan-requests,federation,indexes,thing-commands,things,unlinking,v3,what-happens}.test.ts",
    ],
    isSampled: true,
  },
  {
    source: "src/store/tables",
    near: ["test/contracts/{store-sqlite,webhooks}.test.ts"],
    far: [
      "test/{store,identity,idempotency,alerts,devices,federation,events,own-things,link-sessions}/*.test.ts",
      "test/provisioning/{devices,inventory,states}.test.ts",
      "test/http/v3-*.test.ts",
      "test/oauth/{rotation,sweep,token-edges,token-limits}.test.ts",
    ],
    isSampled: true,
  },
];
