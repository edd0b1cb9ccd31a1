import { NotFound } from "../../model/errors.ts";
import type { Input } from "../input.ts";
import { isAdmin } from "../noun.ts";
import { deviceOwners } from "../nouns/device-owners.ts";
import { linkFacts } from "../nouns/link-facts.ts";
import { listening } from "../nouns/listening.ts";
import { nouns } from "../nouns.ts";
import type { ReportProgress } from "../terminal/progress.ts";
import type { AdminAct, AdministrationParts, ServiceFacts } from "./admin-command.ts";
import { accessAct } from "./command-access.ts";

/** The acts of administrators, by the names of their commands. */
export interface Administration {
  run(command: string, input: unknown, service?: ServiceFacts, onProgress?: ReportProgress): Promise<object>;
}

export function administrationOn(parts: AdministrationParts): Administration {
  const typed = nouns.flatMap((noun) => noun.commands).filter(isAdmin);
  const acts = new Map<string, AdminAct>();
  for (const act of [...typed, accessAct(), deviceOwners, linkFacts, listening]) acts.set(act.name, act);
  return {
    async run(name, input, service, onProgress = () => undefined) {
      const command = acts.get(name);
      if (!command) throw new NotFound(`There is no command "${name}" in this version of the service.`);
      const { answer, changed } = await command.act(parts, (input ?? {}) as Input, service, onProgress);
      if (changed) {
        const detail = { command: name, ...changed.detail };
        await parts.identity.audit.record({ act: "admin", source: "command", ...changed, detail });
      }
      return answer;
    },
  };
}
