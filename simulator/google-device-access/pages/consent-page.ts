import { clip, type Html, html } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import { type Account, type Device, titleOf } from "../account.ts";
import { site, siteMasthead } from "./site.ts";

export interface ConsentQuery {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
}

/** The page on which a person chooses an account and the devices that the project may see. */
export function consentPage(project: string, accounts: readonly Account[], query: ConsentQuery): Page {
  const hidden = Object.entries({ client_id: query.clientId, redirect_uri: query.redirectUri, state: query.state }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`${siteMasthead}
<main><h1>Share devices with ${clip(project, 60)}</h1>
<p class="soft">No real account is involved.</p>
${accounts.length === 0 ? html`<p>There are no accounts.</p>` : accounts.map((account) => accountChoice(account, hidden))}
</main>`;
  return { title: "Partner connections", body, site };
}

/** As on Google's second page, the permission itself can be withheld. */
function accountChoice({ userId, person, devices }: Account, hidden: readonly Html[]): Html {
  return html`<form class="card" method="post">
<fieldset><legend>The account of ${clip(person, 60)}</legend>
${hidden}<input type="hidden" name="account" value="${userId}">
${[...devices.values()].map(deviceChoice)}
<label class="choice"><input type="checkbox" name="withheld">Go on without the permission</label>
</fieldset>
<div class="pair"><button name="decision" value="deny">Decline</button><button name="decision" value="allow">Allow</button></div>
</form>`;
}

function deviceChoice(device: Device): Html {
  return html`<label class="choice"><input type="checkbox" name="device" value="${device.name}" checked>${clip(titleOf(device), 60)}</label>`;
}

export function refusedPage(error: string): Page {
  const body = html`${siteMasthead}<main><div class="card"><h1>Error 400</h1><p>${error}</p></div></main>`;
  return { title: "Error 400", body, site };
}
