import type { ChosenDevice } from "../../../assistants/assistant.ts";
import type { Outlet } from "../../../assistants/outlets.ts";
import type { AdminCommand, AdministrationParts } from "../../administration/admin-command.ts";
import { counted, rows } from "../../terminal/output.ts";
import { tenantNames } from "../tenant-option.ts";
import { chosenOutlet, chosenUser, outletArgument, shownOutlet } from "./outlet-argument.ts";
import { directiveInWords, errorsInWords, lagInWords, type ShownHealth, shownHealth } from "./outlet-health.ts";
import { setUpInWords } from "./outlet-set-up.ts";

/** Users of an outlet that `outlet show` lists. */
const usersShown = 20;
/** Devices that are named of those that a user's assistant is not offered: for one user, and for each of several. */
const omittedShown = { ofOne: 1_000, ofEach: 10 };

export const showOutlet: AdminCommand = {
  name: "outlet show",
  meaning:
    "show one outlet without its secrets, its last directive, how long reports wait and which errors they met, what " +
    "to enter in the console of its maker, and the users who have linked it, with the devices that the assistant is not offered because it takes no more",
  examples: ["outlet show bwo_…", "outlet show bwo_… --user 7"],
  arguments: [outletArgument],
  options: (command) =>
    command
      .option("--outlet <id>", "the same, as an option")
      .option("--user <id>", "of the users only this one, with all devices that the assistant is not offered"),
  async act({ identity, assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const names = await tenantNames(identity);
    const userId = chosenUser(input);
    const found =
      userId === undefined
        ? await assistants.grants.ofOutlet(outlet.id, usersShown)
        : await assistants.grants.ofUser(outlet.id, userId);
    const most = userId === undefined ? omittedShown.ofEach : omittedShown.ofOne;
    const users: object[] = [];
    // One after the other, because each reads a whole home.
    for (const grant of found) users.push(await shownUser(assistants, outlet, grant, most));
    const [health] = await assistants.health([outlet.id]);
    return {
      answer: {
        ...shownOutlet(outlet, names.get(outlet.tenantId)),
        settings: outlet.assistant.shownSettings(outlet.settings),
        setUp: assistants.outlets.setUp(outlet),
        linked: await assistants.grants.countOfOutlet(outlet.id),
        ...shownHealth(health!),
        users,
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
        ["last directive", directiveInWords(answer as ShownHealth)],
        ["report lag", lagInWords(answer as ShownHealth)],
        ["errors of the last reports", errorsInWords(answer as ShownHealth)],
      ],
      width,
    );
    return [
      facts,
      ...(users as ShownUser[]).map((user) => userInWords(outlet, user)),
      "",
      setUpInWords(setUp, width),
    ].join("\n");
  },
};

interface ShownUser {
  readonly userId: number;
  readonly since: string;
  readonly reported: string | null;
  readonly waits: boolean;
  readonly problem: string | null;
  /** How many devices the assistant is not offered, and the first of them. */
  readonly omitted: { readonly count: number; readonly devices: readonly ChosenDevice[] };
}

type Shown = AdministrationParts["assistants"];
type Grant = Awaited<ReturnType<Shown["grants"]["ofOutlet"]>>[number];

async function shownUser(
  assistants: Shown,
  outlet: Outlet,
  { userId, sinceMs, reportedMs, problem, dueMs }: Grant,
  mostOmitted: number,
): Promise<ShownUser> {
  const omitted = await assistants.omitted(outlet, userId);
  return {
    userId,
    since: new Date(sinceMs).toISOString(),
    reported: reportedMs === null ? null : new Date(reportedMs).toISOString(),
    waits: dueMs !== null,
    problem,
    omitted: { count: omitted.length, devices: omitted.slice(0, mostOmitted) },
  };
}

function userInWords(outlet: string, { userId, reported, problem, waits, omitted }: ShownUser): string {
  const { count, devices } = omitted;
  const line = [
    `  user ${userId}: `,
    reported ? `last report ${reported}` : "no report yet",
    problem ? `; ${problem}` : "",
    waits ? "; waits" : "",
    count > 0 ? `; ${counted(count, "device")} not offered, because the assistant takes no more` : "",
  ].join("");
  const more = count - devices.length;
  return [
    line,
    ...devices.map(({ id, name }) => `    not offered: ${id} ${name}`),
    ...(more > 0
      ? [`    and ${counted(more, "device")} more; see: breezeway outlet show ${outlet} --user ${userId}`]
      : []),
  ].join("\n");
}
