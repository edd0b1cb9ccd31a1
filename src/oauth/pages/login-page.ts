import { type BadParameter, InvalidLogin } from "../../model/errors.ts";
import { type Html, html } from "../../web/html.ts";
import { iconOf } from "../../web/icons.ts";
import { type Brand, hiddenFields, hostOf, named, type Page, pageOf } from "../../web/page.ts";

/** Why the page is shown again. `wrong` does not tell whether the user name or the password was wrong. */
export type LoginProblem =
  | { readonly kind: "wrong" }
  | { readonly kind: "suspended" }
  | { readonly kind: "empty" }
  | { readonly kind: "otherUser"; readonly name: string }
  | { readonly kind: "tooMany"; readonly retryAfterSeconds: number };

/** The problem of a refused sign-in. */
export function loginProblemOf(error: InvalidLogin | BadParameter): LoginProblem {
  return { kind: error instanceof InvalidLogin && error.isSuspended ? "suspended" : "wrong" };
}

export interface LoginPageValues {
  readonly brand: Brand;
  readonly clientName: string;
  /** What the user signs in for; by default the client asks for access. */
  readonly lead?: Html;
  /** The host to which the user returns; undefined when the user stays on the last page. */
  readonly returnsTo: string | undefined;
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** The user name of the last attempt, or of the account that the page is for. */
  readonly username: string;
  readonly problem?: LoginProblem | undefined;
}

/** Asks a user of the tenant to sign in, and says what for. */
export function loginPage(values: LoginPageValues): Page {
  const { brand, clientName, returnsTo, action, hidden, username, problem } = values;
  const asksForAccess = html`${named(clientName)} asks for access to your ${named(brand.tenantName)} account. After you sign in, you decide.`;
  const main = html`<h1>Sign in</h1>
<p class="lead">${values.lead ?? asksForAccess}</p>
${problem && alertOf(problem)}
<form method="post" action="${action}">
${hiddenFields(hidden)}
<label for="username">User name</label>
<input id="username" name="username" type="text" dir="auto" value="${username}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" enterkeyhint="next" required${problemAttributes(problem, username === "")}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" enterkeyhint="go" required${problemAttributes(problem, username !== "") ?? focusIf(username !== "")}>
<button type="submit">Sign in</button>
</form>`;
  const footer = returnsTo === undefined ? undefined : html`<p>Afterwards you return to ${hostOf(returnsTo)}.</p>`;
  return pageOf({ title: problem ? "Problem: Sign in" : "Sign in", brand, main, footer });
}

function alertOf(problem: LoginProblem): Html {
  return html`<div class="alert" id="problem" role="alert">${iconOf("warning")}<span>${sentenceOf(problem)}</span></div>`;
}

function sentenceOf(problem: LoginProblem): string {
  if (problem.kind === "wrong") return "The user name or the password is wrong. Check both and try again.";
  if (problem.kind === "suspended") return "This account is suspended. Ask the people who run this service.";
  if (problem.kind === "empty") return "Enter your user name and your password.";
  if (problem.kind === "otherUser") return `This page is for the account ${problem.name}. Sign in with that account.`;
  return `Too many attempts to sign in. Try again in ${formatDuration(problem.retryAfterSeconds)}.`;
}

/** Attributes that connect a field with the problem, so that screen readers read it; the first field gets the focus. */
function problemAttributes(problem: LoginProblem | undefined, isFirst: boolean): Html | undefined {
  if (!problem) return undefined;
  const invalid = problem.kind === "tooMany" || problem.kind === "suspended" ? undefined : html` aria-invalid="true"`;
  return html` aria-describedby="problem"${invalid}${isFirst ? html` autofocus` : undefined}`;
}

function focusIf(isWanted: boolean): Html | undefined {
  return isWanted ? html` autofocus` : undefined;
}

/** Rounded up, so that an attempt after this time is not refused. */
function formatDuration(seconds: number): string {
  const units = [
    { name: "hour", seconds: 3600 },
    { name: "minute", seconds: 60 },
    { name: "second", seconds: 1 },
  ] as const;
  const unit = units.find((each) => seconds > each.seconds) ?? units[2];
  const count = Math.max(1, Math.ceil(seconds / unit.seconds));
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}
