import { scopes as allScopes, type Scopes } from "../../model/scopes.ts";
import { type Html, html } from "../../web/html.ts";
import { iconOf, sameIcon } from "../../web/icons.ts";
import { type Brand, hiddenFields, hostOf, named, type Page, pageOf } from "../../web/page.ts";
import { rightsOf } from "./rights.ts";

export interface Terms {
  readonly text: string;
  readonly version: string;
  readonly dateMs: number;
  /** The version that the user accepted before; undefined when there was none, or it is this one. */
  readonly acceptedBefore?: string | undefined;
  /** When apps without the user's consent to these terms lose their access. */
  readonly refreshesEndMs?: number | undefined;
}

export interface TermsPageValues {
  readonly brand: Brand;
  /** The address of the user's account page. */
  readonly accountUrl: string;
  readonly clientName: string;
  /** The host of redirect_uri. */
  readonly returnsTo: string;
  readonly userName: string;
  /** With "tenant" the app gets access to the data of all users of the tenant. */
  readonly covers: "user" | "tenant";
  /** The requested scopes; null means everything. */
  readonly scopes: Scopes;
  readonly terms: Terms | undefined;
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

/** Asks the user to accept or decline. Both buttons look the same, so that neither is suggested. */
export function termsPage(values: TermsPageValues): Page {
  const { brand, accountUrl, clientName, returnsTo, userName, covers, terms, action, hidden } = values;
  const main = html`<h1>${heading(values)}</h1>
<p class="account">${iconOf("person")}<span>${named(userName)}<br><span class="small">signed in to <bdi>${brand.tenantName}</bdi></span></span></p>
${covers === "tenant" ? tenantWarning(brand) : undefined}
<h2 id="may">If you accept, <bdi>${clientName}</bdi> may:</h2>
<ul class="may" aria-labelledby="may">
${rightsOf(brand.tenantName, values).map((right, place) => html`<li>${place === 0 ? iconOf("check", "ok") : sameIcon("ok")}<span>${right}</span></li>`)}
</ul>
<p class="lead">It does not see your password. You can end its access later, on <a href="${accountUrl}" target="_blank" rel="noopener">your account page</a>.</p>
${terms && termsOf(terms, brand)}
<form method="post" action="${action}">
${hiddenFields(hidden)}
<div class="pair"><button type="submit" name="decision" value="decline">Decline</button><button type="submit" name="decision" value="accept">Accept</button></div>
</form>`;
  const footer = html`<p>Either way you return to ${hostOf(returnsTo)}.</p>`;
  return pageOf({ title: `Let ${clientName} in?`, brand, main, footer });
}

function heading({ brand, clientName, covers, scopes }: TermsPageValues): Html {
  if (covers === "user") return html`Let <bdi>${clientName}</bdi> use your account?`;
  return scopes === null || scopes.length === allScopes.length
    ? html`Let <bdi>${clientName}</bdi> manage all of <bdi>${brand.tenantName}</bdi>?`
    : html`Let <bdi>${clientName}</bdi> use accounts of <bdi>${brand.tenantName}</bdi>?`;
}

function tenantWarning({ tenantName }: Brand): Html {
  return html`<p class="note">${iconOf("warning")}<span>This is about more than your own account: it covers every user of <bdi>${tenantName}</bdi>.</span></p>`;
}

function termsOf(terms: Terms, { tenantName }: Brand): Html {
  const { text, version, dateMs } = terms;
  return html`<div class="terms">
<h2 id="terms">Terms of <bdi>${tenantName}</bdi></h2>
<p class="small">Version <bdi>${version}</bdi>, ${dayOf(dateMs)}</p>
${terms.acceptedBefore === undefined ? undefined : changedNote(terms, terms.acceptedBefore)}
<div class="scroll" dir="auto" tabindex="0" role="region" aria-labelledby="terms">${text}</div>
<p class="small">By accepting you agree to these terms.</p>
</div>`;
}

/** For a user who has accepted an older version. */
function changedNote({ refreshesEndMs }: Terms, acceptedBefore: string): Html {
  const deadline =
    refreshesEndMs === undefined
      ? undefined
      : html` From ${dayOf(refreshesEndMs)} on, apps stay connected only if you have accepted these terms with them.`;
  return html`<p class="note">${iconOf("warning")}<span>These terms are new. You accepted version <bdi>${acceptedBefore}</bdi> before.${deadline}</span></p>`;
}

function dayOf(timeMs: number): Html {
  const date = new Date(timeMs);
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(date);
  return html`<time datetime="${date.toISOString().slice(0, 10)}">${day}</time>`;
}
