import type { Account } from "../accounts/account.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { readAccountPlan } from "../home/account-plan.ts";
import { isJsonObject } from "../home/json.ts";
import { type Call, readJson, sendJson } from "../http/call.ts";
import { badArgument, notFound } from "../refusal.ts";
import { scenes } from "../scenes/catalogue.ts";
import { readClientId } from "./client-answers.ts";

export function readState({ accounts, clients, streams, faults, log }: Ecosystem, call: Call): void {
  sendJson(call, 200, {
    status: "ok",
    accounts: accounts.count,
    clients: clients.count,
    streams: streams.count,
    faults: faults.shown.length,
    lastSequence: log.lastSequence,
  });
}

export function listAccounts({ accounts }: Ecosystem, call: Call): void {
  sendJson(call, 200, { accounts: accounts.all.map(summaryOf) });
}

export async function addAccount(ecosystem: Ecosystem, call: Call): Promise<void> {
  const { account, token } = ecosystem.addAccount(readAccountPlan(await readJson(call, {})));
  sendJson(call, 201, { accountId: account.accountId, token });
}

export function removeAccount(ecosystem: Ecosystem, call: Call, accountId: string): void {
  ecosystem.removeAccount(ecosystem.accounts.get(accountId));
  call.response.writeHead(204).end();
}

/** `{"clientId"}` names the token's client; the default client when left out. */
export async function issueToken(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  sendJson(call, 201, { token: ecosystem.access.issueToken(account, readClientId(await readJson(call, {}))) });
}

export function revokeToken(ecosystem: Ecosystem, call: Call, token: string): void {
  if (!ecosystem.access.revokeToken(token)) throw notFound("There is no such token.");
  call.response.writeHead(204).end();
}

export function readDocument({ accounts }: Ecosystem, call: Call, accountId: string): void {
  const account = accounts.get(accountId);
  sendJson(call, 200, account.document, { "X-Revision": String(account.revision) });
}

export async function replaceDocument(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  const document = await readJson(call);
  if (!isJsonObject(document)) throw badArgument("The document must be a JSON object.");
  ecosystem.replaceDocument(account, document);
  sendJson(call, 200, { accountId, revision: account.revision });
}

export async function startScene(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  const played = await readJson(call);
  if (!isJsonObject(played)) throw badArgument('A scene is played with a JSON object such as {"scene": "leave"}.');
  sendJson(call, 200, await ecosystem.playScene(account, played));
}

export function dropStreams({ accounts, streams }: Ecosystem, call: Call, accountId: string): void {
  sendJson(call, 200, { dropped: streams.drop(accounts.get(accountId)) });
}

export function listScenes(_: Ecosystem, call: Call): void {
  const list = [...scenes.values()].map(({ name, meaning, arguments: known }) => ({ name, meaning, arguments: known }));
  sendJson(call, 200, { scenes: list });
}

export function readLog({ log }: Ecosystem, call: Call): void {
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
