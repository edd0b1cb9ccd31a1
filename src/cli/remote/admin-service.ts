import * as sdk from "../../../sdk/src/index.ts";
import { BadParameter } from "../../model/errors.ts";
import { type AdminCall, adminPath, memberName } from "../../operators/admin-call.ts";
import { adminCalls } from "../administration/calls/calls.ts";
import { mostPerPage } from "../administration/paging.ts";
import { type Input, optional } from "../input.ts";
import { readSecret } from "../terminal/secret-input.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { NotAuthorised, safeAddress } from "./chosen-service.ts";
import { commandError, ServiceRefused } from "./service-errors.ts";

/** Long, because the outcome of an abandoned change is unknown. */
const answerWithinMs = 300_000;
/** A list of so many entries is not read further. */
const enoughListed = 10_000;

const serviceVariable = "BREEZEWAY_SERVICE";
const tokenVariable = "BREEZEWAY_OPERATOR_TOKEN";

/** The address of a service elsewhere, on which an administrator's command runs; undefined: on this machine. */
export function chosenAddress(typed: string | undefined, { environment }: Terminal): string | undefined {
  const address = typed ?? environment[serviceVariable];
  return address === undefined || address === "" ? undefined : safeAddress(address, environment);
}

/** Runs a command of administrators on a service elsewhere, over /admin/v1 with an operator's token. */
export async function administerAt(baseUrl: string, terminal: Terminal, name: string, input: Input): Promise<object> {
  const call = adminCalls.find(({ act }) => act === name);
  if (!call)
    throw new BadParameter("service", `breezeway ${name} needs the machine of the service: leave out --service.`);
  const token = await readSecret(terminal, { what: "operator's token", variable: tokenVariable, prompts: false });
  if (!token) {
    throw new NotAuthorised(
      `Set ${tokenVariable} to an operator's token. Make one with: breezeway operator token make`,
    );
  }
  const send = (more: Input) => answerOf(baseUrl, token, call, { ...input, ...more });
  if (!call.isPaged) return send({});
  const whole = await everyPage(send, input);
  if (whole.cursor !== undefined) {
    const count = listOf(whole).length.toLocaleString("en");
    terminal.err.write(
      `Only the first ${count} entries are listed. With --json, the cursor tells where the rest begins.\n`,
    );
  }
  return whole;
}

/**
 * All pages of a list in one answer, as the command prints it. If there are more entries, it ends with a whole page and
 * keeps the cursor: an entry that was left out before the cursor would be in no page.
 */
async function everyPage(
  send: (more: Input) => Promise<object>,
  input: Input,
): Promise<Readonly<Record<string, unknown>>> {
  const typedLimit = optional(input, "limit");
  const limit = Number(typedLimit ?? enoughListed);
  const entries: unknown[] = [];
  const silentNodes = new Set<string>();
  for (let cursor: unknown; ; ) {
    const { cursor: next, ...page } = (await send({
      "page-size": String(Math.min(limit, mostPerPage)),
      ...(typeof cursor === "string" && { cursor }),
    })) as Record<string, unknown>;
    entries.push(...listOf(page));
    // A node that was silent once is missing from that page.
    const silent = page.silentNodes as readonly string[] | undefined;
    for (const node of silent ?? []) silentNodes.add(node);
    if (next !== undefined && entries.length < limit) {
      cursor = next;
      continue;
    }
    const whole = { ...page, ...(silent && { silentNodes: [...silentNodes] }) };
    const [list] = Object.keys(page);
    if (typedLimit !== undefined) return { ...whole, [list!]: entries.slice(0, limit) };
    return { ...whole, [list!]: entries, ...(next !== undefined && { cursor: next }) };
  }
}

/** The list of an answer is its first member. */
function listOf(answer: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.values(answer)[0] as readonly unknown[];
}

async function answerOf(baseUrl: string, token: string, call: AdminCall, input: Input): Promise<object> {
  const { path, sent } = requestOf(call, input);
  const isInQuery = call.method === "GET" || call.method === "DELETE";
  const query = isInQuery ? queryOf(sent) : "";
  try {
    const answer = await fetch(`${baseUrl}${adminPath}${path}${query}`, {
      method: call.method,
      redirect: "manual",
      signal: AbortSignal.timeout(answerWithinMs),
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json",
        ...(!isInQuery && { "content-type": "application/json" }),
      },
      ...(!isInQuery && { body: JSON.stringify(sent) }),
    });
    const body = await answer.text();
    if (answer.ok) return JSON.parse(body) as object;
    throw refusalOf(answer.status, body, baseUrl, call);
  } catch (error) {
    if (error instanceof ServiceRefused) throw error;
    const lost = new sdk.Unreachable(`${baseUrl} does not answer.`, { cause: error });
    throw commandError(lost, baseUrl, { isWrite: call.need !== "read" });
  }
}

function refusalOf(status: number, body: string, baseUrl: string, call: AdminCall): ServiceRefused {
  try {
    const { error, error_description } = JSON.parse(body) as { error: string; error_description: string };
    const next = status === 401 ? ` Set ${tokenVariable} to a valid token.` : "";
    return new ServiceRefused(status, error, `${inOptionNames(error_description, call)}${next}`);
  } catch {
    return new ServiceRefused(status, String(status), `The service at ${baseUrl} answered ${status}.`);
  }
}

/** The service names a member of the request at the beginning of a sentence; the command line has an option instead. */
function inOptionNames(sentence: string, { path, fields = [], isPaged }: AdminCall): string {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const otherOptions = [...inPath, ...(isPaged ? ["page-size"] : [])].map((option) => ({ option }));
  const options = [...fields, ...otherOptions];
  const [member] = /^\w+(?= (?:must|is missing|needs|is not)\b)/.exec(sentence) ?? [];
  const field = options.find((each) => memberName(each) === member);
  return field === undefined ? sentence : `--${field.option}${sentence.slice(member!.length)}`;
}

/** The path with its parameters, and the other options by the names that callers over HTTP use. */
function requestOf({ path: pattern, fields = [], isPaged }: AdminCall, input: Input) {
  const inPath = [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name] ?? "")));
  const paging = isPaged ? ["page-size", "cursor", "limit"] : [];
  const sent: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(input)) {
    // `--no-return-url` also sets the option return-url.
    if (value === undefined || inPath.includes(option) || option === "limit" || option.startsWith("no-")) continue;
    const field = fields.find((one) => one.option === option);
    if (!field && !paging.includes(option)) {
      throw new BadParameter(
        option,
        `--${option} needs the machine of the service: leave it out, or leave out --service.`,
      );
    }
    // `--no-return-url` means an empty list.
    sent[memberName(field ?? { option })] = field?.kind === "texts" && value === false ? [] : value;
  }
  return { path, sent };
}

function queryOf(sent: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(sent).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => [name, String(one)]) : [[name, String(value)]],
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs as [string, string][])}`;
}
