import { type Html, html } from "../../web/html.ts";
import { type Icon, iconOf } from "../../web/icons.ts";
import { type Brand, hiddenFields, hostOf, named, type Page, pageOf } from "../../web/page.ts";

export interface ConnectPageValues {
  readonly brand: Brand;
  /** The address of the user's account page. */
  readonly accountUrl: string;
  /** The host to which the user returns; undefined when the user stays on the last page. */
  readonly returnsTo: string | undefined;
  /** The user whose account will see the home. */
  readonly userName: string;
  readonly isSignedIn: boolean;
  /** How the ecosystem calls an account. */
  readonly accountName: string;
  readonly mode: "link" | "renew";
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** The account's address as typed before, if the page asks for it. */
  readonly address?: string | undefined;
  readonly problem?: string | undefined;
}

/** Asks the owner of a home to connect it, and says whose account will see it, what is read and what may be done. */
export function connectPage(values: ConnectPageValues): Page {
  const { brand, accountUrl, returnsTo, accountName, mode, action, hidden, address, problem } = values;
  const tenant = html`<bdi>${brand.tenantName}</bdi>`;
  const title = mode === "link" ? "Connect your home" : "Connect your home again";
  const main = html`<h1>${mode === "link" ? html`Connect your home to ${tenant}` : html`Connect your home to ${tenant} again`}</h1>
${accountBox(values)}
${address === undefined ? problemBox(problem) : undefined}
${rights("reads", "check", html`${tenant} reads:`, [
  html`The names of your home and its rooms`,
  html`Your thermostats, smoke alarms and other devices, and what they report`,
  html`Whether somebody is at home`,
])}
${rights("may", "check", html`When you or an app of yours asks for it, ${tenant} may:`, [
  html`Change what these devices do, such as the temperature or a fan`,
])}
${rights("not", "cross", html`${tenant} does not:`, [
  html`See the password of your ${accountName}`,
  html`Show or control cameras and locks`,
])}
<p class="lead">Next you sign in to your ${accountName} and allow it there. You can end the connection later, on <a href="${accountUrl}" target="_blank" rel="noopener">your account page</a>.</p>
<form method="post" action="${action}">
${hiddenFields(hidden)}
${address === undefined ? undefined : addressField(accountName, address, problem)}
<div class="pair"><button type="submit" name="decision" value="cancel" form="cancel">Cancel</button><button type="submit" name="decision" value="continue">Continue</button></div>
</form>
${cancelForm(values)}`;
  const footer = returnsTo === undefined ? undefined : html`<p>Either way you return to ${hostOf(returnsTo)}.</p>`;
  return pageOf({ title: problem === undefined ? title : `Problem: ${title}`, brand, main, footer });
}

/** Enter in a field presses the first button of its form. So the button before "Continue" belongs to another form. */
function cancelForm({ action, hidden }: ConnectPageValues): Html {
  return html`<form id="cancel" method="post" action="${action}">
${hiddenFields(hidden)}
</form>`;
}

/** Names the account, so that nobody connects a home to a stranger's account unawares. */
function accountBox({ brand, userName, isSignedIn }: ConnectPageValues): Html {
  const words = isSignedIn
    ? html`your account at <bdi>${brand.tenantName}</bdi>`
    : html`at <bdi>${brand.tenantName}</bdi>. Continue only if this is your account.`;
  return html`<p class="account">${iconOf("person")}<span>The account ${named(userName)} will see this home.<br><span class="small">It is ${words}</span></span></p>`;
}

function rights(id: string, icon: Icon, heading: Html, items: readonly Html[]): Html {
  return html`<h2 id="${id}">${heading}</h2>
<ul class="may" aria-labelledby="${id}">
${items.map((item) => html`<li>${iconOf(icon)}<span>${item}</span></li>`)}
</ul>`;
}

function problemBox(problem: string | undefined): Html | undefined {
  if (problem === undefined) return undefined;
  return html`<div class="alert" id="problem" role="alert">${iconOf("warning")}<span>${problem}</span></div>`;
}

/** What is wrong with the address stands at its field, which keeps what was typed. */
function addressField(accountName: string, address: string, problem: string | undefined): Html {
  const described =
    problem === undefined
      ? html` aria-describedby="address-hint"`
      : html` aria-invalid="true" aria-describedby="problem address-hint" autofocus`;
  return html`<label for="address">Address of your ${accountName}</label>
<p class="small" id="address-hint">The one that opens it when you are away from home.</p>
${problemBox(problem)}
<input id="address" name="address" type="text" inputmode="url" dir="ltr" value="${address}" placeholder="https://home.example" autocomplete="url" autocapitalize="none" autocorrect="off" spellcheck="false" required${described}>`;
}
