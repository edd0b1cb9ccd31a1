import { BadParameter } from "../../model/errors.ts";
import { nodeName } from "../../model/node-name.ts";
import { defaultQuotas, type QuotaKind, type QuotaValues, quotaKinds, quotaRange } from "../../quotas/quota-kinds.ts";
import type { QuotaChange, QuotaOwner } from "../../quotas/quota-settings.ts";
import type { QuotaUseOverNodes } from "../../quotas/quota-use.ts";
import type { AdminCommand, AdministrationParts } from "../administration/admin-command.ts";
import type { DescribedCommand } from "../command.ts";
import { idByPrefix } from "../id-prefix.ts";
import { type Input, number, optional } from "../input.ts";
import type { Noun } from "../noun.ts";
import { rows, table } from "../terminal/output.ts";

/** The options of the kinds, and how they are shown. */
const kindOptions: Readonly<Record<QuotaKind, { readonly option: string; readonly words: string }>> = {
  requestsPerMinute: { option: "requests-per-minute", words: "requests a minute" },
  openStreams: { option: "open-streams", words: "open streams" },
  commandsPerMinute: { option: "commands-per-minute", words: "commands a minute" },
};

const ownerOptions: NonNullable<DescribedCommand["options"]> = (command) =>
  command
    .option("--tenant <name or id>", "the quotas of a tenant")
    .option("--client <id>", "the quotas of a client, by its id or the beginning of it");

const show: AdminCommand = {
  name: "quota show",
  meaning: "show the quotas of a client or a tenant, and how much of them each node counts as used",
  examples: ["quota show --client bwc_…", "quota show --tenant Acme"],
  options: ownerOptions,
  async act(parts, input) {
    return { answer: await shown(parts, await ownerOf(parts, input)) };
  },
  toText: inWords,
};

const set: AdminCommand = {
  name: "quota set",
  meaning: "set quotas of a client or a tenant; what is not named stays",
  examples: ["quota set --client bwc_… --requests-per-minute 6000", "quota set --tenant Acme --open-streams 500"],
  options: (command) =>
    ownerOptions(command)
      .option("--requests-per-minute <number>", "requests in a minute on one node")
      .option("--open-streams <number>", "streams of events that are open at once on one node")
      .option("--commands-per-minute <number>", "commands to things in a minute on one node"),
  async act(parts, input) {
    const change = changeOf(input);
    if (Object.keys(change).length === 0) {
      const options = quotaKinds.map((kind) => `--${kindOptions[kind].option}`).join(", ");
      throw new BadParameter("requests-per-minute", `Nothing to set. Give one of: ${options}.`);
    }
    const owner = await ownerOf(parts, input);
    await parts.quotas.settings.change(owner, change);
    return { answer: await shown(parts, owner), changed: changedOf(owner, change) };
  },
  toText: inWords,
};

const reset: AdminCommand = {
  name: "quota reset",
  meaning: "give a client or a tenant the default quotas again",
  examples: ["quota reset --client bwc_…"],
  options: ownerOptions,
  async act(parts, input) {
    const owner = await ownerOf(parts, input);
    await parts.quotas.settings.change(owner, { requestsPerMinute: null, openStreams: null, commandsPerMinute: null });
    return { answer: await shown(parts, owner), changed: changedOf(owner) };
  },
  toText: inWords,
};

type NamedOwner = QuotaOwner & { readonly name: string };

async function ownerOf({ identity, clients }: AdministrationParts, input: Input): Promise<NamedOwner> {
  const [tenant, typedClient] = [optional(input, "tenant"), optional(input, "client")];
  if ((tenant === undefined) === (typedClient === undefined)) {
    throw new BadParameter("client", "Give either --tenant or --client.");
  }
  if (tenant !== undefined) return { ...(await identity.findTenant(tenant)), clientId: null };
  const all = await clients.listClients();
  const known = all.map(({ id, name }) => ({ id, words: name }));
  const clientId = idByPrefix("client", typedClient!, known);
  const { tenantId, name } = all.find(({ id }) => id === clientId)!;
  return { tenantId, clientId, name };
}

function changeOf(input: Input): QuotaChange {
  const { from, to } = quotaRange;
  const named = quotaKinds.filter((kind) => optional(input, kindOptions[kind].option) !== undefined);
  return Object.fromEntries(named.map((kind) => [kind, Math.floor(number(input, kindOptions[kind].option, from, to))]));
}

function changedOf({ tenantId, clientId, name }: NamedOwner, change: QuotaChange = {}) {
  const values = Object.entries(change).map(([kind, value]) => [kindOptions[kind as QuotaKind].option, value]);
  return { tenantId, ...(clientId !== null && { clientId }), detail: { name, ...Object.fromEntries(values) } };
}

/** The answer of all commands: each quota with its value and whether it was set, and the use on each node. */
interface ShownQuotas {
  readonly tenantId: number;
  readonly client_id: string | null;
  readonly name: string;
  readonly quotas: Readonly<Record<QuotaKind, { readonly value: number; readonly isDefault: boolean }>>;
  readonly used: Omit<QuotaUseOverNodes, "nodes"> & {
    /** The name is left out by a service of the version before. */
    readonly nodes: readonly (QuotaUseOverNodes["nodes"][number] & { readonly nodeName?: string })[];
  };
}

async function shown({ quotas, nameOfNode }: AdministrationParts, owner: NamedOwner): Promise<ShownQuotas> {
  const [stored, used] = [await quotas.settings.stored(owner), await quotas.useOf(owner)];
  const values = { ...defaultQuotas(owner.clientId === null ? "tenant" : "client"), ...stored } as QuotaValues;
  const withSource = quotaKinds.map((kind) => [kind, { value: values[kind], isDefault: stored[kind] === undefined }]);
  return {
    tenantId: owner.tenantId,
    client_id: owner.clientId,
    name: owner.name,
    quotas: Object.fromEntries(withSource),
    used: { ...used, nodes: used.nodes.map((one) => ({ ...one, nodeName: nameOfNode(one.node) })) },
  };
}

function inWords({ tenantId, client_id, name, quotas, used }: ShownQuotas): string {
  const facts = rows([
    client_id === null ? ["tenant", `${name} (${tenantId})`] : ["client", `${name} (${client_id})`],
    ...quotaKinds.map((kind) => {
      const { value, isDefault } = quotas[kind];
      return [kindOptions[kind].words, `${value.toLocaleString("en-US")}${isDefault ? " (default)" : ""}`] as const;
    }),
  ]);
  const use = table(
    ["NODE", "REQUESTS USED", "OPEN STREAMS", "COMMANDS USED"],
    [
      ...used.nodes.map((one) => [
        one.nodeName ?? one.node,
        one.requestsPerMinute,
        one.openStreams,
        one.commandsPerMinute,
      ]),
      ...used.silentNodes.map((node) => [nodeName(node), "did not answer", "-", "-"]),
    ],
  );
  const isKnown = used.nodes.length + used.silentNodes.length > 0;
  return `${facts}\n\n${isKnown ? use : "No service runs, so nothing is used."}`;
}

export const quota: Noun = {
  name: "quota",
  alias: "quotas",
  meaning: "how much a client or a tenant may do in a minute: on all nodes together, or by default on each node",
  commands: [show, set, reset],
};
