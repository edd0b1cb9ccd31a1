import { defaultTokenDays, longestTokenDays, type TokenRecord } from "../../../operators/tokens.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { ago } from "../../devices/times.ts";
import { number, optional, text } from "../../input.ts";
import { rows, table, whole } from "../../terminal/output.ts";
import { chosenOperator } from "./chosen-operator.ts";

const operatorOption = "--operator <name or id>";

const make: AdminCommand = {
  name: "operator token make",
  meaning: "make a token with which a program acts as this operator; it is shown once",
  examples: [
    "operator token make --operator ada --name deploy",
    "operator token make --operator ada --name ci --days 7",
  ],
  options: (command) =>
    command
      .requiredOption(operatorOption, "whose rights the token has")
      .requiredOption("--name <name>", "what the token is for")
      .option("--days <number>", `how long it is valid; ${defaultTokenDays} when it is left out`),
  async act(parts, input) {
    const { operatorId, name: of } = await chosenOperator(parts, input);
    const days = optional(input, "days") === undefined ? undefined : number(input, "days", 1, longestTokenDays);
    const maker = parts.operator?.by;
    const { secret, token } = await parts.operators.addToken(operatorId, { name: text(input, "name"), days, maker });
    const { id, name, parentId, expiresMs } = token;
    const detail = { of, token: id, name, expires: timeText(expiresMs), madeBy: parentId ?? undefined };
    return {
      answer: { ...shown(token), operator: of, token: secret },
      changed: { detail },
    };
  },
  toText: ({ token, operator, expires }) =>
    `${rows([
      ["  token", token],
      ["  of", operator],
      ["  valid until", expires],
    ])}\n\nThe token is shown only now: the service stores a hash of it.`,
};

const list: AdminCommand = {
  name: "operator token list",
  meaning: "list the tokens of an operator, without their secrets",
  examples: ["operator token list --operator ada"],
  options: (command) => command.requiredOption(operatorOption, "whose tokens"),
  async act(parts, input) {
    const { operatorId } = await chosenOperator(parts, input);
    return { answer: { tokens: (await parts.operators.listTokens(operatorId)).map(shown) } };
  },
  toText({ tokens }, _typed, width) {
    if (tokens.length === 0) return "There are no tokens. See: breezeway operator token make --help";
    return table(
      [whole("TOKEN"), "NAME", "CREATED", "EXPIRES", "LAST USED"],
      (tokens as Answer[]).map((one) => [
        one.tokenId,
        one.name,
        ago(Date.parse(one.created)),
        one.expires.slice(0, 10),
        one.used === null ? "never" : ago(Date.parse(one.used)),
      ]),
      width,
    );
  },
};

const revoke: AdminCommand = {
  name: "operator token revoke",
  meaning: "end a token at once, with the tokens that it made",
  examples: ["operator token revoke ot_…"],
  arguments: [{ name: "id", meaning: "the token's id; see: breezeway operator token list" }],
  options: (command) => command.option("--id <id>", "the same, as an option"),
  async act({ operators, operator }, input) {
    const own = operator && operator.role !== "owner" ? operator.operatorId : undefined;
    const token = await operators.revokeToken(text(input, "id"), own);
    return { answer: shown(token), changed: { detail: { token: token.id, name: token.name } } };
  },
  toText: ({ name }) => `The token ${name} has ended.`,
};

function shown({ id, name, parentId, createdMs, expiresMs, usedMs }: TokenRecord) {
  return {
    tokenId: id,
    name,
    madeBy: parentId,
    created: timeText(createdMs),
    expires: timeText(expiresMs),
    used: usedMs === null ? null : timeText(usedMs),
  };
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export const tokenCommands: readonly AdminCommand[] = [make, list, revoke];
