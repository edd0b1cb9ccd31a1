import type { Account } from "../accounts/account.ts";
import { permissionMeanings } from "../clients/permissions.ts";
import type { AuthRequest } from "../oauth/authorization-request.ts";
import { brand, masthead } from "./brand.ts";
import { clip, type Html, html, textOf } from "./html.ts";
import type { Page } from "./page.ts";

/** The form value that creates a home, if there is none yet. */
export const newHome = "new";

const listedHomes = 20;

/** Asks the owner whether an app may see a home, and which one. */
export function consentPage(
  { client, state, requestedUri, returnsTo }: AuthRequest,
  accounts: readonly Account[],
): Page {
  const app = clip(client.name, 60);
  const body = html`${masthead}
<main><form class="card" method="post" action="/login/oauth2">
<h1>${app} asks to use your home</h1>
<p>If you allow it, ${app} may:</p>
<ul>
${client.permissions.map((permission) => html`<li>${permissionMeanings[permission]}</li>`)}
<li>See the names of your homes and rooms</li>
</ul>
${homes(accounts)}
<input type="hidden" name="client_id" value="${client.clientId}">
<input type="hidden" name="state" value="${state}">
<input type="hidden" name="redirect_uri" value="${requestedUri}">
<div class="pair"><button name="decision" value="deny">Deny</button><button name="decision" value="allow">Allow</button></div>
</form>
<p class="soft">${whereNext(returnsTo, app)} You can end the access at any time in your ${brand} account.</p>
</main>`;
  return { title: `Allow ${app}?`, body };
}

function homes(accounts: readonly Account[]): Html {
  if (accounts.length === 0) {
    return html`<p>You have no home here yet. Allow, and one is made for you.</p>
<input type="hidden" name="account" value="${newHome}">`;
  }
  const [only, another] = accounts;
  if (another === undefined) {
    return html`<p>Your home: <strong>${nameOf(only!)}</strong></p>
<input type="hidden" name="account" value="${only!.accountId}">`;
  }
  const listed = accounts
    .slice(-listedHomes)
    .map(
      (account, place) =>
        html`<label class="choice"><input type="radio" name="account" value="${account.accountId}" required${place === 0 ? html` checked` : undefined}><span>${nameOf(account)}</span></label>`,
    );
  const left = accounts.length - listed.length;
  return html`<fieldset><legend>Which home?</legend>
${listed}
${left > 0 ? html`<p class="soft">The newest ${listed.length} are listed; ${left} more are there.</p>` : undefined}
</fieldset>`;
}

/** The name of an account on the pages: the names of its structures. */
export function nameOf(account: Account): string {
  const names = Object.values(account.readable?.structures ?? {}).map(({ name }) => textOf(name));
  return clip(names.join(", ") || "A home without a name", 48);
}

function whereNext(returnsTo: string | null, app: string): string {
  if (returnsTo === null) return `You will be shown a PIN to type into ${app}.`;
  const { host, protocol } = new URL(returnsTo);
  return `Then you go back to ${clip(host || protocol, 80)}.`;
}
