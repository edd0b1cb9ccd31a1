import { scopes } from "../../../model/scopes.ts";
import { type Html, html } from "../../../web/html.ts";
import { accessOf } from "../access-descriptions.ts";
import { commonErrors, errorContents } from "../common-errors.ts";
import type { DescribedRoute } from "../described-route.ts";
import type { Deployment } from "../openapi.ts";
import { scopeMeanings } from "../scope-texts.ts";
import { shellCode } from "./code.ts";
import { errorList } from "./operation.ts";
import { answerPanel, panel } from "./panel.ts";
import { renderText } from "./render-text.ts";

/** Sections that apply to all operations. */
export const introductions: readonly { readonly id: string; readonly title: string }[] = [
  { id: "introduction", title: "Introduction" },
  { id: "authentication", title: "Authentication" },
  { id: "errors", title: "Errors" },
  { id: "attributes", title: "Attributes of a linked account" },
  { id: "traits", title: "Traits of things" },
];

export function introductionSections({ version, baseUrl }: Deployment): Html {
  return html`<section class="operation" id="introduction" aria-labelledby="title">
<div class="telling">
<h1 id="title">Breezeway API</h1>
<p class="lead">Breezeway connects your cloud with others. Clients get access by OAuth 2.0, read and command things (thermostats, alarms, lamps) by their traits, and follow events by streams and webhooks. Things come from linked home accounts and from devices that a company provisions. For older clients each linked account is also one virtual device of 519 attributes.</p>
<p>Requests are plain HTTP: parameters in the address, in a form or in JSON. Answers are JSON, but for the platform calls, which are XML. All text is UTF-8, all times are milliseconds since 1970. Every answer carries an ${renderText("`X-Request-Id`")} which finds the request in the service's log, and no answer may be cached.</p>
<p>The same for programs: <a href="openapi.json">openapi.json</a>, an OpenAPI 3.1 document. It is made from the routes themselves, and so is this page. Version ${version}.</p>
</div>
<div class="showing">
${panel("Base address", "Base address", shellCode(baseUrl))}
${panel("A first call", "A first call", shellCode(`curl ${baseUrl}/readyz`))}
</div>
</section>
<section class="operation" id="authentication" aria-labelledby="authentication-title">
<div class="telling">
<h2 id="authentication-title"><a href="#authentication">Authentication</a></h2>
<p>There are three kinds of callers, with three kinds of credentials. Each operation says which it needs.</p>
<ul class="fields">
${caller("A client with an access token", "bearer", "The user grants it in the browser; it ends after an hour and is refreshed. It reads and writes below `/v3`.")}
${caller("A user with a security token", "secToken", "`userLogin` gives it, for 60 minutes from its last use. It links accounts and makes platform calls.")}
${caller("A client with its secret", "client", "Shown once, when the client is registered. It gets, refreshes and revokes tokens.")}
</ul>
<h3 id="scopes">Scopes</h3>
<p>${renderText("A client may ask for less than everything: `scope` at `/oauth2/authorize`, or with `client_credentials`, names what its tokens may be used for. Without `scope` they may be used for all of it; unknown words are ignored, and unknown words alone give `devices:read`. A call that needs more answers 403 `insufficient_scope`.")}</p>
<ul class="fields">
${scopes.map((scope) => html`<li><p class="field"><code>${scope}</code></p><p>${renderText(scopeMeanings[scope])}</p></li>`)}
</ul>
<p>Send secrets in headers or bodies, not in addresses: addresses end up in logs and histories.</p>
</div>
<div class="showing">${panel("Before the examples", "Variables of the examples", shellCode(variables))}</div>
</section>
<section class="operation" id="errors" aria-labelledby="errors-title">
<div class="telling">
<h2 id="errors-title"><a href="#errors">Errors</a></h2>
<p>An error has a fitting HTTP status and a body that names the field and what is allowed. It never repeats what was sent. Errors of all operations:</p>
${errorList(commonErrors)}
<p>The adaptor answers with numbers instead of codes, platform calls with a fault in XML and HTTP 500.</p>
</div>
<div class="showing">
${answerPanel(404, errorContents.standard, "An error")}
${answerPanel(401, errorContents.adaptor, "An error of the adaptor")}
${answerPanel(500, errorContents.fault, "A fault of a platform call")}
</div>
</section>`;
}

const variables = `ACCESS_TOKEN='bwa_…'
SEC_TOKEN='bws_…'
CLIENT_ID='…'
CLIENT_SECRET='…'`;

function caller(name: string, access: DescribedRoute["access"], meaning: string): Html {
  return html`<li><p class="field"><strong>${name}</strong></p>
<p>${renderText(accessOf({ access, scopes: [], errorShape: "standard" }).words)}</p>
<p>${renderText(meaning)}</p></li>`;
}
