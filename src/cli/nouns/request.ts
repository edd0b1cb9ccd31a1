import { BadParameter, NotFound, NotRunning } from "../../model/errors.ts";
import type { UserId } from "../../model/ids.ts";
import { nodeName } from "../../model/node-name.ts";
import type { FoundRequest, RecordedLine, RequestCursor, RequestFilter } from "../../requests/request-record.ts";
import { type FoundRequests, mostFound, type RequestSearch } from "../../requests/request-search.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../administration/admin-command.ts";
import { wantedPage } from "../administration/paging.ts";
import { ago } from "../devices/times.ts";
import { idByPrefix } from "../id-prefix.ts";
import { type Input, id, number, optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { main, rows, shortId, table, whole } from "../terminal/output.ts";
import { chosenTenant, withTenantOption } from "./tenant-option.ts";

const list: AdminCommand = {
  name: "request list",
  meaning: "list the recent requests that all nodes remember, newest first",
  examples: ["request list", "request list --tenant Acme --status 4xx", "request list --min-ms 500 --limit 100"],
  options: (command) =>
    withTenantOption(command)
      .option("--client <id>", "of one client only, by its id or the beginning of it")
      .option("--user <id>", "of one user only")
      .option("--route <pattern>", "of one route only, such as /v3/devices/:deviceId")
      .option("--status <status>", "with one status, such as 404, or of one class, such as 5xx")
      .option("--only <callers>", "only those of clients and users, or of operators: clients, operators")
      .option("--min-ms <milliseconds>", "those that took at least this long")
      .option("--limit <number>", "the largest number of requests to list", "50"),
  async act(parts, input) {
    const page = optional(input, "limit") === undefined ? wantedPage(input) : undefined;
    const limit = page?.limit ?? Math.floor(number({ limit: "50", ...input }, "limit", 1, mostFound));
    const after = page?.after === undefined ? undefined : cursorIn(page.after);
    // One more shows whether another page follows.
    const found = await search(parts.requests, { ...(await filterOf(parts, input)), after }, limit + (page ? 1 : 0));
    const requests = found.requests.slice(0, limit);
    const last = found.requests.length > limit ? requests.at(-1) : undefined;
    const cursor = last && { cursor: `${last.timeMs}~${last.requestId}` };
    return { answer: { ...found, requests: requests.map((one) => shownFacts(one, parts.nameOfNode)), ...cursor } };
  },
  toText(answer: Answer, _typed, width) {
    const { requests } = answer as { requests: readonly ShownRequest[] };
    if (requests.length === 0) return `${silence(answer)}No remembered request matches.`;
    const lines = table(
      [whole("TIME"), whole("STATUS"), whole("MS"), main("REQUEST"), "CALLER", "CODE", whole("ID")],
      requests.map((one) => [
        ago(Date.parse(one.time)),
        one.status,
        Math.round(one.tookMs),
        `${one.method} ${one.operation ?? one.route}`,
        callerInWords(one),
        one.code ?? "-",
        shortId(one.requestId),
      ]),
      width,
    );
    return `${silence(answer)}${lines}`;
  },
};

const show: AdminCommand = {
  name: "request show",
  meaning: "show one recent request and its log lines, by the id that its answer and the lines have",
  examples: ["request show 6f1b0c9e"],
  arguments: [{ name: "request", meaning: "its id, from the header X-Request-Id or an error, or the beginning of it" }],
  options: (command) => withTenantOption(command.option("--request <id>", "the same, as an option")),
  async act({ requests, identity, nameOfNode }, input) {
    const typed = text(input, "request");
    const tenantId = await chosenTenant(identity, input);
    const requestId = await wholeId(requests, typed, tenantId);
    const found = await search(requests, { requestId, tenantId }, 1);
    const [one] = found.requests;
    if (!one) {
      const missing = found.silentNodes.length > 0 ? ` ${inWords(found.silentNodes)}` : "";
      throw new NotFound(`No node remembers the request ${requestId}. Look for it in the log.${missing}`);
    }
    return { answer: { ...shownFacts(one, nameOfNode), lines: one.lines?.map(shownLine) ?? null } };
  },
  toText(answer: ShownRequest & { readonly lines: readonly ReturnType<typeof shownLine>[] | null }) {
    const { time, method, route, operation, status, code, tookMs, bytes } = answer;
    const { tenantId, userId, clientId, source, node, requestId } = answer;
    const facts = rows([
      ["request", requestId],
      ["time", time],
      ["route", `${method} ${route}`],
      ["operation", operation ?? "-"],
      ["status", status],
      ["error", code ?? "-"],
      ["took", `${Math.round(tookMs * 10) / 10} ms`],
      ["bytes", bytes],
      ["tenant", tenantId ?? "-"],
      ["user", userId ?? "-"],
      ["client", clientId ?? "-"],
      ["source", source],
      ["node", answer.nodeName ?? node],
    ]);
    const lines = (answer.lines ?? []).map((line) => `${line.time} ${line.level} ${line.sentence} ${line.fields}`);
    return lines.length === 0 ? facts : `${facts}\n\n${lines.join("\n")}`;
  },
};

type ShownRequest = Omit<FoundRequest, "timeMs" | "lines"> & {
  readonly time: string;
  /** Left out by a service of the version before. */
  readonly nodeName?: string;
};

function shownFacts(
  { timeMs, lines: _, ...record }: FoundRequest,
  nameOfNode: AdministrationParts["nameOfNode"],
): ShownRequest {
  return { time: new Date(timeMs).toISOString(), ...record, nodeName: nameOfNode(record.node) };
}

function shownLine({ timeMs, ...line }: RecordedLine) {
  return { time: new Date(timeMs).toISOString(), ...line };
}

/** `user 3`, `user 3 bwc_1a2b3c4d`: the beginning of a client's id is enough for commands. */
function callerInWords({ userId, clientId }: ShownRequest): string {
  const words = [userId === null ? "" : `user ${userId}`, clientId === null ? "" : shortId(clientId)];
  return words.filter((word) => word !== "").join(" ") || "-";
}

const wholeIdLength = 36;

/**
 * The id for the beginning of one, as the list shows it. A node of the version before looks only at its newest 500
 * requests: it does not know the filter, and sends those.
 */
async function wholeId(requests: RequestSearch, typed: string, tenantId: RequestFilter["tenantId"]): Promise<string> {
  if (typed.length >= wholeIdLength) return typed;
  const known = (await search(requests, { tenantId, requestIdPrefix: typed }, mostFound)).requests;
  const words = known.map(({ requestId, method, route }) => ({ id: requestId, words: `${method} ${route}` }));
  return words.length === 0 ? typed : idByPrefix("request", typed, words);
}

/** Only a running service remembers requests. */
async function search(requests: RequestSearch, filter: RequestFilter, limit: number): Promise<FoundRequests> {
  const found = await requests.find(filter, limit);
  if (found.nodes.length + found.silentNodes.length > 0) return found;
  throw new NotRunning("No service runs on this store. A service remembers its recent requests only while it runs.");
}

async function filterOf({ identity, clients }: AdministrationParts, input: Input): Promise<RequestFilter> {
  const client = optional(input, "client");
  const known = client === undefined ? [] : await clients.listClients();
  return {
    tenantId: await chosenTenant(identity, input),
    clientId:
      client &&
      idByPrefix(
        "client",
        client,
        known.map(({ id: one, name }) => ({ id: one, words: name })),
      ),
    userId: optional(input, "user") === undefined ? undefined : id<UserId>(input, "user"),
    route: optional(input, "route"),
    status: statusOf(optional(input, "status")),
    only: callersIn(input),
    minMs: optional(input, "min-ms") === undefined ? undefined : number(input, "min-ms", 0, 3_600_000),
  };
}

function callersIn(input: Input): RequestFilter["only"] {
  const typed = optional(input, "only");
  if (typed === undefined || typed === "clients" || typed === "operators") return typed;
  throw new BadParameter("only", "--only must be clients or operators.");
}

/** The cursor of a page: the time and the id of the last request of the page before. */
function cursorIn(cursor: string): RequestCursor {
  const [, timeMs, requestId] = /^(\d{1,15}(?:\.\d{1,9})?)~([\x21-\x7e]{1,200})$/.exec(cursor) ?? [];
  if (timeMs === undefined || requestId === undefined) {
    throw new BadParameter("cursor", "The cursor is not one of this list. Start without it.");
  }
  return { timeMs: Number(timeMs), requestId };
}

/** `404`, or `4xx` for the whole class. */
function statusOf(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined;
  const [, ofClass, exact] = /^(?:([1-5])xx|([1-5]\d\d))$/i.exec(typed) ?? [];
  if (ofClass === undefined && exact === undefined) {
    throw new BadParameter("status", "--status must be a status such as 404, or a class such as 4xx.");
  }
  return Number(ofClass ?? exact);
}

/** A line above the list if requests of some nodes are missing. */
function silence({ silentNodes }: Pick<FoundRequests, "silentNodes">): string {
  return silentNodes.length === 0 ? "" : `${inWords(silentNodes)}\n\n`;
}

function inWords(silentNodes: FoundRequests["silentNodes"]): string {
  return `These nodes did not answer, so their requests are missing: ${silentNodes.map(nodeName).join(", ")}.`;
}

export const request: Noun = {
  name: "request",
  alias: "requests",
  meaning: "the recent requests, as each node remembers them",
  commands: [list, show],
};
