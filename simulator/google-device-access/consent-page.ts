import type { Account } from "./account.ts";

export interface ConsentQuery {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
}

/** The page on which a person chooses an account and the devices that the project may see. */
export function consentPage(project: string, accounts: readonly Account[], query: ConsentQuery): string {
  const hidden = Object.entries({ client_id: query.clientId, redirect_uri: query.redirectUri, state: query.state })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
    .join("");
  const choices = accounts.map((account) => accountChoice(account, hidden)).join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Partner connections</title>
<meta name="viewport" content="width=device-width">
<style>body{font:16px system-ui;max-width:32rem;margin:2rem auto;padding:0 1rem}fieldset{margin:0 0 1rem}</style></head>
<body><h1>Share devices with ${escaped(project)}</h1><p>A simulated page: no real account is involved.</p>
${choices || "<p>There are no accounts.</p>"}</body></html>`;
}

function accountChoice(account: Account, hidden: string): string {
  const devices = [...account.devices.values()].map(({ name, type, parentRelations }) => {
    const title = `${type.replace("sdm.devices.types.", "")} in ${parentRelations[0]?.displayName ?? "no room"}`;
    return `<label><input type="checkbox" name="device" value="${escaped(name)}" checked> ${escaped(title)}</label><br>`;
  });
  const person = `<input type="hidden" name="account" value="${escaped(account.userId)}">`;
  return `<form method="post"><fieldset><legend>${escaped(account.person)}</legend>${hidden}${person}
${devices.join("\n")}<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Decline</button></fieldset></form>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
