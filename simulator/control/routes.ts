import type { Account } from "../accounts/account.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { readAccountPlan } from "../home/account-plan.ts";
import { isJsonObject } from "../home/json.ts";
import { type Call, readJson, sendJson } from "../http/call.ts";
import { badArgument, notFound } from "../refusal.ts";
import { scenes } from "../scenes/catalogue.ts";

/** One call of the control interface. A star in the path stands for the id that is handed to the answer. */
export interface Route {
  readonly method: string;
  readonly path: readonly string[];
  readonly answer: (ecosystem: Ecosystem, call: Call, id: string) => void | Promise<void>;
}

export const routes: readonly Route[] = [
  route("GET", "", tellState),
  route("GET", "accounts", listAccounts),
  route("POST", "accounts", addAccount),
  route("POST", "accounts/*/tokens", issueToken),
  route("DELETE", "tokens/*", revokeToken),
  route("GET", "accounts/*/document", readDocument),
  route("PUT", "accounts/*/document", replaceDocument),
  route("POST", "accounts/*/scene", playScene),
  route("POST", "accounts/*/drop", dropStreams),
  route("GET", "scenes", listScenes),
  route("GET", "log", readLog),
];

function tellState({ accounts, streams, log }: Ecosystem, call: Call): void {
  sendJson(call, 200, {
    status: "ok",
    accounts: accounts.count,
    streams: streams.count,
    lastSequence: log.lastSequence,
  });
}

function listAccounts({ accounts }: Ecosystem, call: Call): void {
  sendJson(call, 200, { accounts: accounts.all.map(summaryOf) });
}

async function addAccount(ecosystem: Ecosystem, call: Call): Promise<void> {
  const { account, token } = ecosystem.addAccount(readAccountPlan(await readJson(call, {})));
  sendJson(call, 201, { accountId: account.accountId, token });
}

function issueToken(ecosystem: Ecosystem, call: Call, accountId: string): void {
  sendJson(call, 201, { token: ecosystem.issueToken(ecosystem.accounts.get(accountId)) });
}

function revokeToken(ecosystem: Ecosystem, call: Call, token: string): void {
  if (!ecosystem.revokeToken(token)) throw notFound("There is no such token.");
  call.response.writeHead(204).end();
}

function readDocument({ accounts }: Ecosystem, call: Call, accountId: string): void {
  const account = accounts.get(accountId);
  sendJson(call, 200, account.document, { "X-Revision": String(account.revision) });
}

async function replaceDocument(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  const document = await readJson(call);
  if (!isJsonObject(document)) throw badArgument("The document must be a JSON object.");
  ecosystem.replaceDocument(account, document);
  sendJson(call, 200, { accountId, revision: account.revision });
}

async function playScene(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  const played = await readJson(call);
  if (!isJsonObject(played)) throw badArgument('A scene is played with a JSON object such as {"scene": "leave"}.');
  sendJson(call, 200, await ecosystem.playScene(account, played));
}

function dropStreams({ accounts, streams }: Ecosystem, call: Call, accountId: string): void {
  sendJson(call, 200, { dropped: streams.drop(accounts.get(accountId)) });
}

function listScenes(_: Ecosystem, call: Call): void {
  const list = [...scenes.values()].map(({ name, meaning, arguments: known }) => ({ name, meaning, arguments: known }));
  sendJson(call, 200, { scenes: list });
}

function readLog({ log }: Ecosystem, call: Call): void {
  const after = call.query.get("after") ?? "0";
  if (!/^[0-9]{1,15}$/.test(after)) throw badArgument("after must be the sequence of an entry.");
  sendJson(call, 200, { entries: log.entries(Number(after)), lastSequence: log.lastSequence });
}

function summaryOf(account: Account) {
  const { devices, structures } = account.readable ?? {};
  return {
    accountId: account.accountId,
    revision: account.revision,
    structures: Object.values(structures ?? {}).map(({ structure_id: id, name }) => ({ id, name })),
    thermostats: Object.keys(devices?.thermostats ?? {}).length,
    alarms: Object.keys(devices?.smoke_co_alarms ?? {}).length,
  };
}

function route(method: string, path: string, answer: Route["answer"]): Route {
  return { method, path: path.split("/").filter(Boolean), answer };
}
