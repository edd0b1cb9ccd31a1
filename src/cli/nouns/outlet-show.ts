import type { AdminCommand } from "../administration/admin-command.ts";
import { counted, rows } from "../terminal/output.ts";
import { chosenOutlet, outletArgument, shownOutlet } from "./outlet-argument.ts";
import { setUpInWords } from "./outlet-set-up.ts";
import { tenantNames } from "./tenant-option.ts";

/** Users of an outlet that `outlet show` lists. */
const usersShown = 20;

export const showOutlet: AdminCommand = {
  name: "outlet show",
  meaning:
    "show one outlet without its secrets, what its maker's console must be told, and the users who have linked it",
  examples: ["outlet show bwo_…"],
  arguments: [outletArgument],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ identity, assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const names = await tenantNames(identity);
    const users = await assistants.grants.ofOutlet(outlet.id, usersShown);
    return {
      answer: {
        ...shownOutlet(outlet, names.get(outlet.tenantId)),
        settings: outlet.assistant.shownSettings(outlet.settings),
        setUp: assistants.outlets.setUp(outlet),
        linked: await assistants.grants.countOfOutlet(outlet.id),
        users: users.map(({ userId, sinceMs, reportedMs, problem, dueMs }) => ({
          userId,
          since: new Date(sinceMs).toISOString(),
          reported: reportedMs === null ? null : new Date(reportedMs).toISOString(),
          waits: dueMs !== null,
          problem,
        })),
      },
    };
  },
  toText(answer, _typed, width) {
    const { outlet, kind, tenant, client_id, created, settings, setUp, linked, users } = answer;
    const facts = rows(
      [
        ["outlet", outlet],
        ["kind", kind],
        ["tenant", tenant],
        ["client", client_id],
        ["created", created],
        ...(Object.entries(settings) as [string, string][]),
        ["linked by", counted(linked, "user")],
      ],
      width,
    );
    const ofUsers = (users as ShownUser[]).map(({ userId, reported, problem, waits }) =>
      [
        `  user ${userId}: `,
        reported ? `last report ${reported}` : "no report yet",
        problem ? `; ${problem}` : "",
        waits ? "; waits" : "",
      ].join(""),
    );
    return [facts, ...ofUsers, "", setUpInWords(setUp, width)].join("\n");
  },
};

interface ShownUser {
  readonly userId: number;
  readonly reported: string | null;
  readonly problem: string | null;
  readonly waits: boolean;
}
