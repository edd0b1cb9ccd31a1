import { type Html, html } from "../../web/html.ts";
import { type Icon, iconOf } from "../../web/icons.ts";
import { type Brand, hiddenFields, named, type Page, pageOf } from "../../web/page.ts";

/** A form that leads back to the account page. */
export interface Form {
  readonly address: string;
  readonly csrf: string;
}

interface Question {
  readonly title: string;
  readonly words: Html;
  /** What is to be done, as the form of the account page names it. */
  readonly act: string;
  readonly value: string;
  readonly yes: string;
}

const buttonStyle =
  ".button{display:block;margin-top:1.5rem;padding:.75rem 1rem;font-weight:600;text-align:center;text-decoration:none;border-radius:.625rem;border:1.5px solid var(--edge);background:var(--accent);color:var(--on-accent)}\n";

/** Asks the user to confirm before something is ended. */
function questionPage(brand: Brand, { address, csrf }: Form, question: Question, field?: Html): Page {
  const { title, words, act, value, yes } = question;
  const main = html`<h1>${title}</h1>
${words}
<form method="post" action="${address}">
${hiddenFields({ csrf, [act]: value })}
${field}
<div class="pair"><button type="submit" name="decision" value="cancel" formnovalidate>Cancel</button><button type="submit" name="decision" value="confirm">${yes}</button></div>
</form>`;
  return pageOf({ title, brand, main });
}

export function unlinkQuestion(brand: Brand, form: Form, home: { ecosystem: string; name: string }): Page {
  const words = html`<p>${named(home.name)} will be disconnected from ${named(brand.tenantName)}.</p>
<p>Its devices, their values and their history, and the alerts on them are removed. Apps no longer see this home. This can’t be undone.</p>`;
  return questionPage(brand, form, {
    title: "Disconnect this home?",
    words,
    act: "unlink",
    value: home.ecosystem,
    yes: "Disconnect",
  });
}

export function endAccessQuestion(
  brand: Brand,
  form: Form,
  app: { clientId: string; name: string; covers: "user" | "tenant" },
): Page {
  const reach =
    app.covers === "tenant"
      ? html`<p class="note">${iconOf("warning")}<span>You gave it access to every user of <bdi>${brand.tenantName}</bdi>. That ends too.</span></p>`
      : undefined;
  const words = html`<p>${named(app.name)} can no longer see or control your devices. If you want to use it again, connect it in the app.</p>
${reach}`;
  return questionPage(brand, form, {
    title: "End this app’s access?",
    words,
    act: "endAccess",
    value: app.clientId,
    yes: "End access",
  });
}

export function signOutEverywhereQuestion(brand: Brand, form: Form): Page {
  const words = html`<p>You will be signed out of ${named(brand.tenantName)} in all browsers, this one too. Apps keep their access: end it for each app on your account page.</p>`;
  return questionPage(brand, form, {
    title: "Sign out everywhere?",
    words,
    act: "signOutEverywhere",
    value: "yes",
    yes: "Sign out",
  });
}

/** What is wrong with the password that was typed. */
export interface PasswordProblem {
  readonly words: string;
}

export function deleteQuestion(brand: Brand, form: Form, userName: string, problem?: PasswordProblem): Page {
  const words = html`<p>The account ${named(userName)} at ${named(brand.tenantName)} will be deleted, with:</p>
<ul>
<li>all connected homes, their devices, values and history</li>
<li>all other devices of the account</li>
<li>all alerts</li>
<li>the access of all apps and assistants</li>
</ul>
<p>This can’t be undone. Export your data before, if you want to keep it.</p>
${problem && html`<div class="alert" id="problem" role="alert">${iconOf("warning")}<span>${problem.words}</span></div>`}`;
  const invalid = problem ? html` aria-invalid="true" aria-describedby="problem" autofocus` : undefined;
  const field = html`<label for="password">Your password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${invalid}>`;
  const title = "Delete your account?";
  return questionPage(brand, form, { title, words, act: "deleteAccount", value: "yes", yes: "Delete" }, field);
}

interface Message {
  readonly look: "done" | "error" | "expired";
  readonly icon: Icon;
  readonly title: string;
  readonly words: string;
}

/** A page with one message, and the way back to the account page if there is one. */
function messagePage(brand: Brand, { look, icon, title, words }: Message, address?: string): Page {
  const main = html`<div class="message ${look}">${iconOf(icon)}
<h1>${title}</h1>
<p>${words}</p></div>
${address === undefined ? undefined : html`<p><a class="button" href="${address}">Back to your account page</a></p>`}`;
  return pageOf({ title, brand, main, moreStyle: buttonStyle });
}

export function deletedPage(brand: Brand): Page {
  const words = "Everything that belonged to it is removed. You can close this page.";
  return messagePage(brand, { look: "done", icon: "check", title: "Your account is deleted", words });
}

/** Another request deletes the account, and has not finished. */
export function deletionUnderwayPage(brand: Brand): Page {
  const words = "Nobody can use it any more. The rest is removed within a few minutes. You can close this page.";
  return messagePage(brand, { look: "done", icon: "clock", title: "Your account is being deleted", words });
}

/** The form is not of this browser's session, or not of ours at all. */
export function expiredPage(brand: Brand, address: string): Page {
  const words = "Nothing was changed. Open the page again.";
  return messagePage(brand, { look: "expired", icon: "clock", title: "This page has expired", words }, address);
}

/** Something can't be done now. */
export function problemPage(brand: Brand, address: string, words: string): Page {
  return messagePage(brand, { look: "error", icon: "warning", title: "That did not work", words }, address);
}

/** Asks for the company, since the address doesn't tell it. `isWrong`: no company has the name that was typed. */
export function companyPage(address: string, isWrong: boolean): Page {
  const problem = isWrong
    ? html`<div class="alert" id="problem" role="alert">${iconOf("warning")}<span>There is no company of that name here. Write it as its sign-in page does.</span></div>`
    : undefined;
  const described = isWrong ? html` aria-invalid="true" aria-describedby="problem" autofocus` : undefined;
  const main = html`<h1>Your account</h1>
<p class="lead">With which company do you have your account?</p>
${problem}
<form method="get" action="${address}">
<label for="company">Company</label>
<input id="company" name="company" type="text" dir="auto" autocomplete="organization" required${described}>
<button type="submit">Continue</button>
</form>`;
  return pageOf({ title: isWrong ? "Problem: Your account" : "Your account", brand: undefined, main });
}
