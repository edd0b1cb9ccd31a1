import type { SessionRecord } from "../../../operators/sessions.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { ago } from "../../devices/times.ts";
import { text } from "../../input.ts";
import { table, whole } from "../../terminal/output.ts";
import { chosenOperator } from "./chosen-operator.ts";

const list: AdminCommand = {
  name: "operator sessions list",
  meaning: "list the signed-in browsers of an operator",
  examples: ["operator sessions list --operator ada"],
  options: (command) => command.requiredOption("--operator <name or id>", "whose sessions"),
  async act(parts, input) {
    const { operatorId } = await chosenOperator(parts, input);
    return { answer: { sessions: (await parts.operators.listSessions(operatorId)).map(shown) } };
  },
  toText({ sessions }, _typed, width) {
    if (sessions.length === 0) return "No browser is signed in.";
    return table(
      [whole("SESSION"), "SIGNED IN", "LAST USED", "FROM", "BROWSER"],
      (sessions as Answer[]).map((one) => [
        one.sessionId,
        ago(Date.parse(one.created)),
        ago(Date.parse(one.used)),
        one.address,
        one.userAgent,
      ]),
      width,
    );
  },
};

const end: AdminCommand = {
  name: "operator sessions end",
  meaning: "sign a browser out at once",
  examples: ["operator sessions end os_…"],
  arguments: [{ name: "id", meaning: "the session's id; see: breezeway operator sessions list" }],
  options: (command) => command.option("--id <id>", "the same, as an option"),
  async act({ operators, operator }, input) {
    const own = operator && operator.role !== "owner" ? operator.operatorId : undefined;
    const session = await operators.endSession(text(input, "id"), own);
    return { answer: shown(session), changed: { detail: { session: session.id } } };
  },
  toText: ({ sessionId }) => `Session ${sessionId} has ended.`,
};

function shown({ id, createdMs, usedMs, expiresMs, address, userAgent }: SessionRecord) {
  return {
    sessionId: id,
    created: new Date(createdMs).toISOString(),
    used: new Date(usedMs).toISOString(),
    expires: new Date(expiresMs).toISOString(),
    address,
    userAgent,
  };
}

export const sessionCommands: readonly AdminCommand[] = [list, end];
