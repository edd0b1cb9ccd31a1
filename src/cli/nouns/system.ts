import { OperatorForbidden } from "../../model/errors.ts";
import type { AdminCommand, Answer } from "../administration/admin-command.ts";
import type { DeploymentFacts } from "../administration/overview-parts.ts";
import type { Noun } from "../noun.ts";
import { rows } from "../terminal/output.ts";

const show: AdminCommand = {
  name: "system",
  meaning: "show the nodes with their links, the store, disk, certificate, last backup, and the settings of a service",
  examples: ["system", "system --json"],
  async act({ deployment, nameOfNode }) {
    if (!deployment) throw new OperatorForbidden();
    const [nodes, store, disk, certificate, backup] = await Promise.all([
      known(async () => (await deployment.nodes()).map((one) => ({ ...one, nodeName: nameOfNode(one.node) }))),
      known(() => deployment.store()),
      known(() => deployment.disk()),
      known(async () => certificateOf(deployment)),
      known(async () => ({ time: isoOrNull(await deployment.lastBackupMs()) })),
    ]);
    const { version, settings } = deployment;
    return { answer: { version, nodes, store, disk, certificate, backup, settings } };
  },
  toText({ version, nodes, store, disk, certificate, backup }) {
    const words = (part: Answer, write: (value: Answer) => string) =>
      part.problem === undefined ? write(part.value) : `unknown: ${part.problem}`;
    return rows([
      ["version", version],
      [
        "nodes",
        words(nodes, (all) => all.map((one: Answer) => `${one.nodeName ?? one.node} (${one.links} links)`).join(", ")),
      ],
      ["store", words(store, ({ kind, schemaVersion }) => `${kind}, step ${schemaVersion}`)],
      ["disk", words(disk, ({ freeBytes }) => `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`)],
      ["certificate", words(certificate, ({ ends }) => (ends === null ? "none of its own" : `until ${ends}`))],
      ["last backup", words(backup, ({ time }) => time ?? "none known")],
    ]);
  },
};

/** A value, or why it is not known. */
async function known<Value>(read: () => Promise<Value>): Promise<{ value?: Value; problem?: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function certificateOf(deployment: DeploymentFacts) {
  return { ends: isoOrNull((await deployment.certificate())?.endsMs) };
}

function isoOrNull(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : new Date(timeMs).toISOString();
}

export const system: Noun = { name: "system", meaning: show.meaning, commands: [show] };
