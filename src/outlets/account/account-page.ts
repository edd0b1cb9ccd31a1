import type { AccountApp } from "../../account/apps.ts";
import type { AccountAlarm, AccountHome } from "../../account/homes.ts";
import { alarmPlace, alarmWords, soundingAlarm } from "../../home/sounding.ts";
import { rightsOf } from "../../oauth/pages/rights.ts";
import { type Html, html } from "../../web/html.ts";
import { iconOf } from "../../web/icons.ts";
import { type Brand, hiddenFields, named, type Page, pageOf } from "../../web/page.ts";
import { localTimes } from "./local-times.ts";
import { clockAndDay, lastUseWords, stateWords } from "./words.ts";

/** A notice about what was just done, by the word in the address. */
export const notices: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Nothing was changed."],
  ["unlinked", "The home is disconnected, and its data is removed."],
  ["no-home", "That home is not connected any more."],
  ["access-ended", "The app has no access any more."],
  ["no-access", "That app has no access any more."],
]);

export interface AccountPageValues {
  readonly brand: Brand;
  readonly userName: string;
  readonly homes: readonly AccountHome[];
  /** The smoke and CO alarms that sound. */
  readonly alarms: readonly AccountAlarm[];
  readonly apps: readonly AccountApp[];
  /** False: there are more apps than the list can show. */
  readonly isComplete: boolean;
  /** The company's own clients that reach all its users. */
  readonly companyApps: readonly AccountApp[];
  /** Which page of apps; the first is 1. */
  readonly appPage: number;
  /** In how many browsers the user is signed in. */
  readonly browsers: number;
  readonly notice: string | undefined;
  readonly nowMs: number;
  /** The address of the page, to which its form is sent too. */
  readonly address: string;
  readonly csrf: string;
}

/** Few, so that the page stays small. */
const appsPerPage = 5;

const style = `h2{font-size:1.125rem;margin:2rem 0 .25rem;padding-top:1.5rem;border-top:1px solid var(--line)}
h3{font-size:1rem;line-height:1.4;font-weight:650;margin:0}
form{margin:0}
.item{margin-top:1rem;padding:1rem;border:1px solid var(--line);border-radius:.625rem}
.item p,.item ul{margin:.25rem 0 0}
.item ul{padding-left:1.25rem}
.state{display:flex;gap:.5rem}
.state svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.125rem}
.state.good svg{color:var(--soft)}.state.bad,.state.bad svg{color:var(--bad)}
.headed{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:0 1rem;margin:2rem 0 .25rem;padding-top:1.5rem;border-top:1px solid var(--line)}
.headed h2,.headed p{margin:0;padding:0;border:0}
.row{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:.875rem}
.row>*{flex:1 1 9rem}
.row button,.quiet{display:block;width:100%;min-height:3rem;padding:.625rem 1rem;font-weight:600;text-align:center;text-decoration:none;border-radius:.625rem;border:1.5px solid var(--edge);background:transparent;color:var(--link)}
.row button.main{background:var(--accent);color:var(--on-accent)}
.row button.danger{border-color:var(--bad);color:var(--bad)}
.band{display:flex;gap:.75rem;margin:0 0 1.25rem;padding:.875rem 1rem;border-radius:.625rem;background:#b3261e;color:#fff;font-weight:700}
.band svg{flex:none}
.band ul{list-style:none;margin:0;padding:0}
.band .was{display:block;font-weight:500}
.item summary{cursor:pointer}
.small.pages{margin:1rem 0 0}
.done{margin:0 0 1.25rem;padding:.875rem 1rem;border-radius:.625rem;background:var(--tint);font-weight:500}
@media(min-width:30rem){.card,footer{max-width:36rem}.row>*{flex:0 1 auto;width:auto;min-width:9rem}}
@media(min-width:30rem) and (min-height:50rem){body{padding-top:3rem}}
`;

/** The page of a signed-in user. All its buttons are in one form; the name of the button says what to do. */
export function accountPage(values: AccountPageValues): Page {
  const { brand, userName, homes, notice, address, csrf, browsers, nowMs } = values;
  const main = html`<h1>Your account</h1>
<p class="account">${iconOf("person")}<span>${named(userName)}<br><span class="small">signed in to <bdi>${brand.tenantName}</bdi></span></span></p>
${alarmBand(values.alarms)}
${notice === undefined ? undefined : html`<p class="done" role="status">${notice}</p>`}
<form method="post" action="${address}">
${hiddenFields({ csrf })}
<section aria-labelledby="homes"><div class="headed"><h2 id="homes">Your homes</h2>
<p class="small">As of ${exactTime(nowMs)}</p></div>
${homes.length === 0 ? html`<p class="lead">No home is connected.</p>` : homes.map(homeOf)}
</section>
<section aria-labelledby="apps"><h2 id="apps">Apps with access</h2>
${appList(values)}
</section>
${companyPart(values)}
<section aria-labelledby="data"><h2 id="data">Your data</h2>
<p class="lead">A file with your devices, their values, your alerts and the apps above. It holds no password.</p>
<p><a class="quiet" href="${address}/export" download>Export my data</a></p>
</section>
<section aria-labelledby="leave"><h2 id="leave">Sign out or leave</h2>
<p class="lead">You are signed in here in ${browsers === 1 ? "one browser" : `${browsers} browsers`}.</p>
<div class="row"><button name="signOut" value="yes">Sign out</button><button name="signOutEverywhere" value="yes">Sign out everywhere</button></div>
<div class="row"><button class="danger" name="deleteAccount" value="yes">Delete my account</button></div>
</section>
</form>`;
  return pageOf({ title: "Your account", brand, main, moreStyle: style, script: localTimes });
}

/** A fire stands above everything else. The page is read once: it says as of when, and how to read it again. */
function alarmBand(alarms: readonly AccountAlarm[]): Html | undefined {
  const sounding = alarms
    .map(({ thing, ...known }) => ({ ...known, place: alarmPlace(thing), alarm: soundingAlarm(thing.state)! }))
    .sort((a, b) => a.alarm.level.localeCompare(b.alarm.level));
  if (sounding.length === 0) return undefined;
  return html`<div class="band" role="alert">${iconOf("warning")}<ul>${sounding.map(
    ({ alarm, place, isStale, confirmedMs }) =>
      html`<li>${alarmWords(alarm)}: <bdi>${place}</bdi>${isStale ? staleWords(confirmedMs) : undefined}</li>`,
  )}</ul></div>`;
}

function staleWords(confirmedMs: number | null): Html {
  return html`<span class="was">${confirmedMs === null ? "As of an unknown time" : html`As of ${exactTime(confirmedMs)}`}. The present state is not known.</span>`;
}

/** What the company itself reads. Only the company can end this. */
function companyPart({ brand, companyApps, apps }: AccountPageValues): Html {
  const company = html`<bdi>${brand.tenantName}</bdi>`;
  // A client that this user has let in is among the apps above.
  const others = companyApps.filter(({ clientId }) => !apps.some((app) => app.clientId === clientId));
  const shown = others.slice(0, appsPerPage);
  const more = others.length - shown.length;
  return html`<section aria-labelledby="company"><h2 id="company">What ${company} itself sees</h2>
<p class="lead">The people who run this service for ${company} see your homes, your devices and what they do, and can control them.${
    others.length === 0
      ? " No program of the company reads them."
      : " These programs of the company reach all its users:"
  }</p>
${shown.map(
  (app) => html`<div class="item"><h3><bdi>${app.name}</bdi></h3>
<details><summary>What it may do</summary><ul>${rightsOf(brand.tenantName, app).map((right) => html`<li>${right}</li>`)}</ul></details></div>`,
)}
${more === 0 ? undefined : html`<p class="small">And ${more} more.</p>`}
</section>`;
}

/** The page reads nothing again, so it may be days old when it is read: all its times are absolute, and no state is green. */
function homeOf(home: AccountHome): Html {
  const { ecosystem, accountName, names, confirmedMs, isRenewable, state } = home;
  const { icon, look, words } = stateWords(home);
  const name = names.length === 0 ? accountName : names.join(", ");
  const renew = isRenewable
    ? html`<button${state === "needs_reauth" ? html` class="main"` : undefined} name="renew" value="${ecosystem}" aria-label="Connect again: ${name}">Connect again</button>`
    : undefined;
  return html`<div class="item"><h3><bdi>${name}</bdi></h3>
${names.length === 0 ? undefined : html`<p class="small">${accountName}</p>`}
<p class="state ${look}">${iconOf(icon)}<span>${words} ${confirmedMs > 0 ? html`Last confirmed at ${exactTime(confirmedMs)}.` : "It was never confirmed."}</span></p>
<div class="row">${renew}<button name="unlink" value="${ecosystem}" aria-label="Disconnect ${name}">Disconnect</button></div></div>`;
}

function appList(values: AccountPageValues): Html {
  const { apps, isComplete, appPage, address } = values;
  if (apps.length === 0) return html`<p class="lead">No app has access to your account.</p>`;
  const pages = Math.ceil(apps.length / appsPerPage);
  const page = Math.min(appPage, pages);
  const shown = apps.slice((page - 1) * appsPerPage, page * appsPerPage);
  const link = (to: number, words: string) => html`<a class="quiet" href="${address}?page=${to}#apps">${words}</a>`;
  return html`${shown.map((app) => appOf(app, values))}
${isComplete ? undefined : html`<p class="note">${iconOf("warning")}<span>There are more apps than this list can show.</span></p>`}
${pages === 1 ? undefined : html`<p class="small pages">Page ${page} of ${pages}</p><div class="row">${page > 1 ? link(page - 1, "Previous apps") : undefined}${page < pages ? link(page + 1, "More apps") : undefined}</div>`}`;
}

function appOf(app: AccountApp, { brand, nowMs }: AccountPageValues): Html {
  const { clientId, name, sinceMs, usedMs } = app;
  return html`<div class="item"><h3><bdi>${name}</bdi></h3>
<p>It may:</p>
<ul>
${rightsOf(brand.tenantName, app).map((right) => html`<li>${right}</li>`)}
</ul>
<p class="small">Since ${dayOf(sinceMs)}, ${lastUseWords(usedMs, nowMs)}</p>
<div class="row"><button name="endAccess" value="${clientId}" aria-label="End access of ${name}">End access</button></div></div>`;
}

function exactTime(timeMs: number): Html {
  const time = new Date(timeMs).toISOString();
  return html`<time datetime="${time}" title="${clockAndDay(timeMs)}" data-local="minute">${clockAndDay(timeMs)}</time>`;
}

function dayOf(timeMs: number): Html {
  const date = new Date(timeMs);
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(date);
  return html`<time datetime="${date.toISOString()}" title="${clockAndDay(timeMs)}" data-local="day">${day}</time>`;
}
