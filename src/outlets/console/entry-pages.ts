import type { OpenLink } from "../../operators/one-time-links.ts";
import { type Html, html } from "../../web/html.ts";
import { iconOf } from "../../web/icons.ts";
import { hiddenFields, type Page, pageOf } from "../../web/page.ts";

/** A form on a page of its own: before an operator is signed in, or for the password. */
interface EntryForm {
  readonly title: string;
  readonly lead: string;
  readonly action: string;
  readonly fields: readonly Field[];
  readonly button: string;
  readonly hidden?: Readonly<Record<string, string>>;
  /** Why the page is shown again. */
  readonly problem?: string | undefined;
  /** Another way in, below the form. */
  readonly otherWay?: Html | undefined;
  /** How else a person comes in, below the form. */
  readonly hint?: string | undefined;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "password";
  readonly autocomplete: string;
  readonly value?: string;
  readonly hint?: string;
}

function entryPage({ title, lead, action, fields, button, hidden = {}, problem, otherWay, hint }: EntryForm): Page {
  const main = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${problem === undefined ? undefined : html`<p class="alert" role="alert">${iconOf("warning")}<span>${problem}</span></p>`}
<form method="post" action="${action}">
${hiddenFields(hidden)}
${fields.map(fieldOf)}
<button>${button}</button>
</form>
${otherWay}
${hint === undefined ? undefined : html`<p class="note"><span>${hint}</span></p>`}`;
  return pageOf({ title: `${title} · Breezeway`, brand: undefined, main });
}

function fieldOf({ name, label, type = "text", autocomplete, value = "", hint }: Field): Html {
  const shown = type === "password" ? "" : value;
  return html`<label for="${name}">${label}</label>
${hint === undefined ? undefined : html`<p class="small" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" value="${shown}" autocomplete="${autocomplete}" required>`;
}

const newPassword: Field = {
  name: "password",
  label: "Password",
  type: "password",
  autocomplete: "new-password",
  hint: "8 to 60 characters.",
};

export interface Typed {
  readonly name?: string;
  readonly tenant?: string;
}

export interface SignInOptions {
  /** How people call the OpenID provider; undefined without one. */
  readonly openIdLabel: string | undefined;
  readonly hint: string | undefined;
  readonly problem?: string;
}

export function signInPage(to: string, typed: Typed, { openIdLabel, hint, problem }: SignInOptions): Page {
  return entryPage({
    title: "Sign in",
    lead: "To the console of this Breezeway.",
    action: "/console/sign-in",
    hidden: { to },
    fields: [
      { name: "name", label: "Name", autocomplete: "username", value: typed.name ?? "" },
      { name: "password", label: "Password", type: "password", autocomplete: "current-password" },
    ],
    button: "Sign in",
    problem,
    hint,
    otherWay: openIdLabel === undefined ? undefined : html`<p>${openIdLink({ to }, `Sign in with ${openIdLabel}`)}</p>`,
  });
}

/** A link to the page that sends the browser to the OpenID provider. */
function openIdLink(query: Readonly<Record<string, string>>, words: string): Html {
  return html`<a href="/console/openid?${new URLSearchParams(query).toString()}">${words}</a>`;
}

/** For an operator without a password. */
export function signInAgainPage(to: string, name: string, openIdLabel: string | undefined): Page {
  const title = "Sign in again";
  const words =
    openIdLabel === undefined
      ? html`<p class="lead">What you want to do needs a new sign-in, but this Breezeway has no OpenID provider any more. Ask an owner for an invitation.</p>`
      : html`<p class="lead">What you want to do needs a new sign-in of <bdi>${name}</bdi>. It counts for 5 minutes.</p>
<p>${openIdLink({ to, confirm: "true" }, `Sign in with ${openIdLabel} again`)}</p>`;
  return pageOf({
    title: `${title} · Breezeway`,
    brand: undefined,
    main: html`<h1>${title}</h1>
${words}`,
  });
}

export function claimPage(action: string, { needsTenant }: OpenLink, typed: Typed, problem?: string): Page {
  const tenant: Field = {
    name: "tenant",
    label: "Name of the first tenant",
    autocomplete: "organization",
    value: typed.tenant ?? "",
    hint: "The company whose users and clients are served here.",
  };
  return entryPage({
    title: "This Breezeway becomes yours",
    lead: "You become an owner, who may do everything. If you enter the name of an existing operator, the password you type here replaces theirs.",
    action,
    fields: [
      { name: "name", label: "Your name", autocomplete: "username", value: typed.name ?? "" },
      newPassword,
      ...(needsTenant ? [tenant] : []),
    ],
    button: "Go to the console",
    problem,
  });
}

export function invitationPage(action: string, { name, role }: OpenLink, typed: Typed, problem?: string): Page {
  const words = { owner: "an owner", tenantAdmin: "a tenant admin", viewer: "a viewer" } as const;
  return entryPage({
    title: "You are invited",
    lead: `To the console of this Breezeway, as ${words[role]}${name === null ? "" : ` with the name ${name}`}. Choose your password.`,
    action,
    fields: [
      ...(name === null
        ? [{ name: "name", label: "Your name", autocomplete: "username", value: typed.name ?? "" }]
        : []),
      newPassword,
    ],
    button: "Go to the console",
    problem,
  });
}

export function passwordPage(
  to: string,
  name: string,
  { problem, hint }: { readonly problem?: string; readonly hint: string | undefined },
): Page {
  return entryPage({
    title: "Your password again",
    lead: `What you want to do needs the password of ${name}. It counts for 5 minutes.`,
    action: "/console/password",
    hidden: { to },
    fields: [{ name: "password", label: "Password", type: "password", autocomplete: "current-password" }],
    button: "Go on",
    problem,
    hint,
  });
}

/** A page with one message, and a way on. */
export function notePage(title: string, sentence: string, link: { readonly words: string; readonly to: string }): Page {
  const main = html`<div class="message">${iconOf("warning")}
<h1>${title}</h1>
<p>${sentence}</p>
<p><a href="${link.to}">${link.words}</a></p></div>`;
  return pageOf({ title: `${title} · Breezeway`, brand: undefined, main });
}
