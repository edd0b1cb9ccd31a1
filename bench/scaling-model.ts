import { pathToFileURL } from "node:url";

/**
 * Capacity model: computes from the costs of one account what a number of accounts needs. These are the figures of
 * docs/scaling.md. `node bench/scaling-model.ts` prints them, with a second-by-second simulation that checks the model.
 */
export interface Costs {
  /** Size of the tables and indexes, for an account and for one entry of its history. */
  readonly accountKb: number;
  readonly entryKb: number;
  readonly walKb: number;
  readonly postgresUs: number;
  readonly nodeUs: number;
  /** Every node reads every log entry of its deployment, for the event streams. */
  readonly readByPostgresUs: number;
  readonly readByNodeUs: number;
  /** Memory of a linked account with its open stream. */
  readonly streamKb: number;
}

/** Measured with `npm run bench -- postgres-costs held-streams` on two cores of a quiet machine, medians of three runs. */
export const measured: Costs = {
  accountKb: 8.72,
  entryKb: 0.27,
  walKb: 1.14,
  postgresUs: 979,
  nodeUs: 1_809,
  readByPostgresUs: 2.91,
  readByNodeUs: 7.28,
  streamKb: 60,
};

/** Assumptions that are not measured: how often homes change, and how much of a machine may be used. */
export interface Plan {
  readonly accounts: number;
  readonly changesAnHour: number;
  readonly peakFactor: number;
  readonly logDays: number;
  /** The share of its cores that a machine may use at the peak. */
  readonly fullness: number;
  readonly databaseCores: number;
  /** Streams that a node may hold: one address has about 28,000 ports for connections to another. */
  readonly mostOfNode: number;
}

/** A node's connections to the database: its pools (store/postgres/store.ts), one for its presence lock, one to listen. */
export const connectionsOfNode = 18;

export const usual: Omit<Plan, "accounts"> = {
  changesAnHour: 6,
  peakFactor: 3,
  logDays: 7,
  fullness: 0.5,
  databaseCores: 32,
  mostOfNode: 14_000,
};

export interface Sizing {
  /** The number of deployments, each with its own database. */
  readonly deployments: number;
  readonly accountsOfDeployment: number;
  readonly nodesOfDeployment: number;
  readonly peakChangesOfDeployment: number;
  readonly databaseCoresOfDeployment: number;
  readonly storedGbOfDeployment: number;
  readonly walMbASecondOfDeployment: number;
  readonly accountsOfNode: number;
  readonly memoryMbOfNode: number;
}

/** The smallest number of deployments that holds all accounts within the planned load. */
export function sizing(plan: Plan, costs: Costs = measured): Sizing {
  const largest = largestCell(plan, costs);
  const deployments = Math.ceil(plan.accounts / largest);
  const accountsOfDeployment = Math.ceil(plan.accounts / deployments);
  const { nodes, cores, changes } = deploymentOf(accountsOfDeployment, plan, costs)!;
  const accountsOfNode = Math.ceil(accountsOfDeployment / nodes);
  const kept = plan.changesAnHour * 24 * plan.logDays * costs.entryKb;
  return {
    deployments,
    accountsOfDeployment,
    nodesOfDeployment: nodes,
    peakChangesOfDeployment: changes,
    databaseCoresOfDeployment: cores,
    storedGbOfDeployment: (accountsOfDeployment * (costs.accountKb + kept)) / 1024 ** 2,
    walMbASecondOfDeployment: ((changes / plan.peakFactor) * costs.walKb) / 1024,
    accountsOfNode,
    memoryMbOfNode: (accountsOfNode * costs.streamKb) / 1024,
  };
}

interface Deployment {
  readonly nodes: number;
  readonly cores: number;
  readonly changes: number;
}

/** Undefined when no number of nodes is enough, because each node must read all changes of the deployment. */
function deploymentOf(accounts: number, plan: Plan, costs: Costs): Deployment | undefined {
  const changes = (accounts * plan.changesAnHour * plan.peakFactor) / 3_600;
  const leftOfNode = plan.fullness - (changes * costs.readByNodeUs) / 1e6;
  if (leftOfNode <= 0) return undefined;
  // One spare node.
  const needed = Math.max((changes * costs.nodeUs) / 1e6 / leftOfNode, accounts / plan.mostOfNode);
  const nodes = Math.ceil(needed) + 1;
  const busy = (changes * (costs.postgresUs + nodes * costs.readByPostgresUs)) / 1e6;
  return { nodes, cores: Math.ceil(busy / plan.fullness), changes };
}

function largestCell(plan: Plan, costs: Costs): number {
  const fits = (accounts: number) => {
    const deployment = deploymentOf(accounts, plan, costs);
    return deployment !== undefined && deployment.cores <= plan.databaseCores;
  };
  let [fitting, beyond] = [1, plan.accounts + 1];
  if (fits(plan.accounts)) return plan.accounts;
  while (beyond - fitting > 1) {
    const middle = Math.floor((fitting + beyond) / 2);
    if (fits(middle)) fitting = middle;
    else beyond = middle;
  }
  return fitting;
}

export interface Simulated {
  /** Load as a share of one core (of the database's cores): the mean of all seconds, and the busiest second. */
  readonly node: { readonly mean: number; readonly fullest: number };
  readonly database: { readonly mean: number; readonly fullest: number };
  /** The busiest second of a node while one node of its deployment is missing. */
  readonly nodeWithOneMissing: number;
}

/**
 * Simulates the busiest ten minutes of one deployment, second by second, with random accounts per node and random changes.
 * Work that does not fit into a second is carried over to the next.
 */
export function simulate(plan: Plan, seed: number, costs: Costs = measured): Simulated {
  const { accountsOfDeployment, nodesOfDeployment, databaseCoresOfDeployment } = sizing(plan, costs);
  const random = numbersFrom(seed);
  const rate = (plan.changesAnHour * plan.peakFactor) / 3_600;
  const run = (nodes: number) => {
    const shares = Array.from({ length: nodes }, () => poisson(accountsOfDeployment / nodes, random));
    const left = new Array<number>(nodes).fill(0);
    let leftOfDatabase = 0;
    const seconds: { node: number; database: number }[] = [];
    for (let second = 0; second < 600; second++) {
      const changes = shares.map((accounts) => poisson(accounts * rate, random));
      const all = changes.reduce((sum, one) => sum + one, 0);
      const loads = changes.map((own, node) => left[node]! + (own * costs.nodeUs + all * costs.readByNodeUs) / 1e6);
      const busy = (all * (costs.postgresUs + nodes * costs.readByPostgresUs)) / 1e6 / databaseCoresOfDeployment;
      const load = leftOfDatabase + busy;
      for (const [node, one] of loads.entries()) left[node] = Math.max(0, one - 1);
      leftOfDatabase = Math.max(0, load - 1);
      seconds.push({ node: Math.max(...loads), database: load });
    }
    return seconds;
  };
  const usualRun = run(nodesOfDeployment);
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const all = (of: "node" | "database", seconds = usualRun) => seconds.map((second) => second[of]);
  return {
    node: { mean: mean(all("node")), fullest: Math.max(...all("node")) },
    database: { mean: mean(all("database")), fullest: Math.max(...all("database")) },
    nodeWithOneMissing: Math.max(...all("node", run(nodesOfDeployment - 1))),
  };
}

/** A Poisson-distributed random number; for a large mean it uses the normal approximation. */
function poisson(mean: number, random: () => number): number {
  if (mean > 200) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
  }
  let [count, product] = [0, random()];
  for (const end = Math.exp(-mean); product > end; count++) product *= random();
  return count;
}

/** Seeded pseudo-random numbers (xorshift). */
function numbersFrom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const shown = (value: number) => {
  const rounded = value >= 100 ? Math.round(value) : Number(value.toPrecision(2));
  return rounded.toLocaleString("en-US");
};
const percent = (value: number) => `${Math.round(value * 100)} %`;

const sizes = [100_000, 1_000_000, 100_000_000];

/** The tables of docs/scaling.md, in Markdown. */
export function scalingTables(): string {
  return [6, 60].map((changesAnHour) => tableFor({ ...usual, changesAnHour })).join("\n\n");
}

function tableFor(plan: Omit<Plan, "accounts">): string {
  const columns = sizes.map((accounts) => ({ ...sizing({ ...plan, accounts }), accounts }));
  const simulated = sizes.map((accounts) => simulate({ ...plan, accounts }, 1));
  const line = (name: string, of: (one: (typeof columns)[number], index: number) => string) =>
    `| ${name} | ${columns.map(of).join(" | ")} |`;
  return [
    line(`**${plan.changesAnHour} changes an hour**`, ({ accounts }) => `${accounts.toLocaleString("en-US")} accounts`),
    `|---|${"---:|".repeat(columns.length)}`,
    line("deployments", ({ deployments }) => shown(deployments)),
    line("accounts in each", ({ accountsOfDeployment }) => shown(accountsOfDeployment)),
    line("changes a second in each, at the peak", ({ peakChangesOfDeployment }) => shown(peakChangesOfDeployment)),
    line("cores of its database", ({ databaseCoresOfDeployment }) => shown(databaseCoresOfDeployment)),
    line("its nodes (a core each)", ({ nodesOfDeployment }) => shown(nodesOfDeployment)),
    line("accounts of a node", ({ accountsOfNode }) => shown(accountsOfNode)),
    line("connections to the database", ({ nodesOfDeployment }) => shown(nodesOfDeployment * connectionsOfNode)),
    line("memory of a node for its accounts, MB", ({ memoryMbOfNode }) => shown(memoryMbOfNode)),
    line("stored in each, GB", ({ storedGbOfDeployment }) => shown(storedGbOfDeployment)),
    line("write-ahead log of each, MB a second", ({ walMbASecondOfDeployment }) => shown(walMbASecondOfDeployment)),
    line("simulated: fullest second of a database", (_, index) => percent(simulated[index]!.database.fullest)),
    line("simulated: fullest second of a node", (_, index) => percent(simulated[index]!.node.fullest)),
    line("the same while one node is missing", (_, index) => percent(simulated[index]!.nodeWithOneMissing)),
  ].join("\n");
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(`${scalingTables()}\n`);
}
