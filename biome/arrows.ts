/** What each folder of `src` may import, beside itself. Whatever is not named here is forbidden. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  model: [],
  runtime: ["model"],
  config: ["ecosystems", "model"],
  web: ["model"],
  home: ["model"],
  "virtual-device": ["home", "model"],
  store: ["home", "runtime", "model"],
  ecosystems: ["home", "runtime", "model"],
  nodes: ["store", "runtime", "model"],
  requests: ["nodes", "model"],
  quotas: ["nodes", "store", "runtime", "model"],
  identity: ["store", "runtime", "model"],
  operators: ["identity", "store", "runtime", "model"],
  idempotency: ["store", "runtime", "model"],
  metrics: ["store", "home", "runtime", "model"],
  oauth: ["identity", "store", "web", "runtime", "model"],
  devices: ["virtual-device", "home", "idempotency", "store", "runtime", "model"],
  federation: ["devices", "ecosystems", "nodes", "store", "virtual-device", "home", "runtime", "model"],
  "own-things": ["devices", "home", "store", "runtime", "model"],
  provisioning: ["own-things", "devices", "home", "idempotency", "store", "runtime", "model"],
  "link-sessions": [
    "federation",
    "devices",
    "ecosystems",
    "oauth",
    "identity",
    "idempotency",
    "store",
    "web",
    "home",
    "runtime",
    "model",
  ],
  account: [
    "link-sessions",
    "federation",
    "alerts",
    "own-things",
    "devices",
    "oauth",
    "identity",
    "store",
    "web",
    "runtime",
    "model",
  ],
  alerts: ["own-things", "devices", "home", "idempotency", "store", "runtime", "model"],
  assistants: ["own-things", "devices", "home", "oauth", "identity", "store", "runtime", "model"],
  events: ["devices", "virtual-device", "idempotency", "store", "runtime", "model"],
  http: ["operators", "identity", "oauth", "virtual-device", "home", "web", "runtime", "model"],
  outlets: [
    "http",
    "web",
    "operators",
    "identity",
    "oauth",
    "federation",
    "link-sessions",
    "account",
    "provisioning",
    "own-things",
    "assistants",
    "devices",
    "alerts",
    "events",
    "idempotency",
    "virtual-device",
    "home",
    "model",
  ],
  cli: [
    "operators",
    "events",
    "identity",
    "oauth",
    "assistants",
    "federation",
    "provisioning",
    "devices",
    "alerts",
    "requests",
    "quotas",
    "virtual-device",
    "home",
    "ecosystems",
    "config",
    "runtime",
    "model",
  ],
};

/** Folders that run in the deterministic simulation: time, randomness, timers and connections are handed in. */
const core = [
  "model",
  "requests",
  "quotas",
  "home",
  "virtual-device",
  "nodes",
  "devices",
  "federation",
  "own-things",
  "provisioning",
  "alerts",
  "assistants",
];

/** Kinds of callers: each folder of `src/outlets` speaks to one of them and imports no other. */
const outlets = [
  "v3",
  "platform",
  "adaptor",
  "oauth",
  "link-pages",
  "account",
  "google-home",
  "alexa",
  "monitoring",
  "admin",
  "console",
];

/** Programs that call the service over HTTP and share no code with it, and what each may import. */
const packages: Readonly<Record<string, { readonly folder: string; readonly denied: readonly string[] }>> = {
  verify: {
    folder: "verify",
    denied: ["**/src/**", "**/sdk/**", "**/simulator/**", "**/demo/**", "pg", "fastify", "commander"],
  },
  simulator: { folder: "simulator", denied: ["**/src/**", "**/sdk/**", "**/demo/**", "**/verify/**"] },
  sdk: { folder: "sdk/src", denied: ["../**", "node:*", "node:*/**", "!node:crypto"] },
};

const libraries = ["node:*", "node:*/**", "pg", "fastify", "eventsource-parser", "commander", "@node-rs/**"];
const globals = ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "queueMicrotask"];
const moreGlobals = ["performance", "fetch", "WebSocket", "EventSource", "process", "crypto", "Buffer"];
const handedIn = "The core is handed its time, randomness, timers and connections (runtime/runtime.ts).";

/** Only these know real time, signals and the process; every other part is handed what it needs. */
const readsProcess = ["cli"];

export interface Rule {
  readonly includes: readonly string[];
  readonly linter: object;
  readonly plugins?: readonly string[];
}

/** The arrows as overrides of Biome's configuration. */
export function arrowRules(): readonly Rule[] {
  return [
    ...Object.entries(arrows).map(([folder, allowed]) => folderRule(folder, allowed)),
    ...outlets.map(outletRule),
    ...Object.entries(packages).map(([name, { folder, denied }]) =>
      ruleFor([`${folder}/**`], [{ group: denied, message: `${name} shares no code with the service.` }]),
    ),
    ruleFor(["src/*.ts", "src/service/**", "demo/**"], [noTests]),
    ruleFor(
      ["test/simulate/checks/checker.ts"],
      [{ group: ["**/src/**"], message: "The checker shares no code with the core." }],
    ),
  ];
}

function inFolders(names: readonly string[]): string {
  return names.length === 1 ? `**/${names[0]}/**` : `**/{${names.join(",")}}/**`;
}

interface Denied {
  readonly group: readonly string[];
  readonly message: string;
}

const noTests: Denied = { group: ["**/test/**"], message: "Tests import the product, never the other way round." };

function deniedTo(folder: string, allowed: readonly string[]): readonly Denied[] {
  const others = Object.keys(arrows).filter((other) => other !== folder && !allowed.includes(other));
  const around = ["simulator", "sdk", "demo", "verify", "test", "service"].filter((name) => mayNot(folder, name));
  return [
    {
      group: [inFolders(others)],
      message: `src/${folder} may import only: ${allowed.join(", ") || "nothing"} (docs/architecture.md, The arrows).`,
    },
    {
      group: [
        inFolders(around),
        "**/main.ts",
        "**/entry-points.ts",
        ...(readsProcess.includes(folder) || folder === "runtime" ? [] : ["**/runtime/process/**"]),
      ],
      message: `src/${folder} is a part: src/service hands it what it needs.`,
    },
  ];
}

/** The command line alone starts a verification and calls the service through the SDK. */
function mayNot(folder: string, name: string): boolean {
  return !(folder === "cli" && (name === "verify" || name === "sdk"));
}

function folderRule(folder: string, allowed: readonly string[]): Rule {
  const denied = deniedTo(folder, allowed);
  if (!core.includes(folder)) return ruleFor([`src/${folder}/**`], denied);
  const { includes, linter } = ruleFor([`src/${folder}/**`], [...denied, { group: libraries, message: handedIn }], {
    noRestrictedGlobals: {
      level: "error",
      options: { deniedGlobals: Object.fromEntries([...globals, ...moreGlobals].map((name) => [name, handedIn])) },
    },
  });
  return { includes, linter, plugins: ["./biome/no-math-random.grit", "./biome/no-wall-clock.grit"] };
}

function outletRule(outlet: string): Rule {
  const siblings = outlets.filter((other) => other !== outlet);
  return ruleFor(
    [`src/outlets/${outlet}/**`],
    [
      ...deniedTo("outlets", arrows.outlets ?? []),
      {
        group: [`../{${siblings.join(",")}}/**`],
        message: `src/outlets/${outlet} speaks to its own callers and imports no other outlet.`,
      },
    ],
  );
}

function ruleFor(includes: readonly string[], patterns: readonly Denied[], more: object = {}): Rule {
  const noRestrictedImports = {
    level: "error",
    options: { patterns: patterns.filter(({ group }) => group.length > 0) },
  };
  return { includes, linter: { rules: { style: { noRestrictedImports, ...more } } } };
}

/** For the table in docs/architecture.md, which a test compares with this one. */
export const allowedImports = arrows;
