import { NotFound } from "../model/errors.ts";
import type { AdminCommand, AdministrationParts, ServiceFacts } from "./admin-command.ts";
import type { Input } from "./input.ts";
import { nouns } from "./nouns.ts";
import type { Tell } from "./progress.ts";

/** The acts of an administrator, by the names of their commands. */
export interface Administration {
  run(command: string, input: unknown, service?: ServiceFacts, tell?: Tell): Promise<object>;
}

export function administrationOn(parts: AdministrationParts): Administration {
  const commands = new Map<string, AdminCommand>();
  for (const command of nouns.flatMap((noun) => noun.commands)) commands.set(command.name, command);
  return {
    async run(name, input, service, tell = () => undefined) {
      const command = commands.get(name);
      if (!command) throw new NotFound(`There is no command "${name}" in this version of the service.`);
      const { answer, changed } = await command.act(parts, (input ?? {}) as Input, service, tell);
      if (changed) {
        const detail = { command: name, ...changed.detail };
        await parts.identity.audit.record({ act: "admin", source: "command", ...changed, detail });
      }
      return answer;
    },
  };
}
