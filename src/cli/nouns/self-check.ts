import { NotRunning, OperatorForbidden } from "../../model/errors.ts";
import type { AdminCommand } from "../administration/admin-command.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Finding } from "../finding.ts";
import type { Noun } from "../noun.ts";

interface SelfCheck {
  readonly ok: boolean;
  readonly node: string;
  /** Left out by a service of the version before. */
  readonly nodeName?: string;
  readonly checks: readonly Finding[];
}

const run: AdminCommand = {
  name: "self-check",
  meaning: "let the running service check itself and its machine, as doctor does here",
  examples: ["self-check", "self-check --service https://breezeway.example --json"],
  async act({ deployment, nameOfNode }, _input, service) {
    if (!deployment) throw new OperatorForbidden();
    if (!service) {
      throw new NotRunning(
        "Only a running service checks itself. Use --service, or check this machine with: breezeway doctor",
      );
    }
    const { node, checks } = await deployment.examine(service);
    const ok = checks.every(({ state }) => state !== "fail");
    const nodeName = nameOfNode(node);
    return { answer: { ok, node, nodeName, checks }, changed: { detail: { node, nodeName, ok } } };
  },
  toText({ node, nodeName, checks }: SelfCheck) {
    const lines = checks.map(({ check, state, words, next }) => {
      const line = `${state.padEnd(4)}  ${check.padEnd(12)}  ${words}`;
      return next === undefined ? line : `${line}\n                    → ${next}`;
    });
    return [`Checked by node ${nodeName ?? node}:`, ...lines].join("\n");
  },
  exitCode: ({ ok }: SelfCheck) => (ok ? exitCodes.ok : exitCodes.failed),
};

export const selfCheckNoun: Noun = { name: "self-check", meaning: run.meaning, commands: [run] };
