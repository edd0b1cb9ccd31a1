import type { Account } from "../accounts/account.ts";
import { defaultClient } from "../clients/clients.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { activityList } from "./activity-list.ts";
import { brand, masthead } from "./brand.ts";
import { nameOf } from "./consent-page.ts";
import { appsWithAccess, faultButtons, sceneButtons } from "./house-buttons.ts";
import { type Html, html } from "./html.ts";
import type { Page } from "./page.ts";
import { rooms } from "./rooms.ts";

const listedAccounts = 12;

/** The page of an account: its devices, buttons for scenes and faults, and the activity log. */
export function housePage(ecosystem: Ecosystem, account: Account | undefined, notice?: string): Page {
  const body = html`${masthead}
<main class="wide">
${notice === undefined ? undefined : html`<p class="card notice" role="alert">${notice}</p>`}
${account === undefined ? noHome : home(ecosystem, account)}
</main>`;
  return { title: account === undefined ? "No home yet" : nameOf(account), body };
}

const noHome = html`<form class="card" method="post" action="/simulator/page"><h1>No home yet</h1>
<p>The new home will have thermostats and alarms.</p>
<button name="make" value="account">Make a home</button></form>`;

function home(ecosystem: Ecosystem, account: Account): Html {
  const { count } = ecosystem.streams;
  const streams = count === 1 ? "1 open stream" : `${count} open streams`;
  return html`<div class="columns">
<div>
<section class="card"><h1>${nameOf(account)}</h1>
<p class="soft"><code>${account.accountId}</code> · revision ${account.revision} · ${streams} in all · <a href="${addressOf(account)}">Look again</a></p>
${rooms(account)}</section>
<section class="card"><h2>Latest activity</h2>${activityList(ecosystem.log, account.accountId)}</section>
</div>
<div>
<section class="card"><h2>Let something happen</h2>${sceneButtons(account)}</section>
<section class="card"><h2>Let something go wrong</h2>${faultButtons(ecosystem, account)}</section>
<section class="card"><h2>Apps with access</h2>${appsWithAccess(ecosystem, account)}</section>
${otherAccounts(ecosystem, account)}
<section class="card"><h2>For your app</h2>
<p class="soft">client_id <code>${defaultClient.clientId}</code><br>client_secret <code>${defaultClient.clientSecret}</code><br>Ask at <code>/login/oauth2</code>, fetch the token at <code>/oauth2/access_token</code>. It may return to any address on this machine; without one ${brand} shows a PIN.</p></section>
</div>
</div>`;
}

function otherAccounts({ accounts }: Ecosystem, shown: Account): Html {
  const others = accounts.all.filter((account) => account !== shown);
  const listed = others
    .slice(-listedAccounts)
    .map(
      (account) =>
        html`<li><a href="${addressOf(account)}">${nameOf(account)}</a> <code>${account.accountId}</code></li>`,
    );
  return html`<section class="card"><h2>Other homes</h2>
${listed.length > 0 ? html`<ul>${listed}</ul>` : undefined}
${others.length > listed.length ? html`<p class="soft">And ${others.length - listed.length} more.</p>` : undefined}
<form method="post" action="/simulator/page"><button name="make" value="account">Make another home</button></form></section>`;
}

export function addressOf({ accountId }: Account): string {
  return `/simulator/page?account=${encodeURIComponent(accountId)}`;
}
