import { clip, html } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import { site, siteMasthead } from "./site.ts";

/** The only person who can log in. */
export const owner = { name: "ada", password: "hearth" };

export interface LoginQuestion {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
}

/** Asks the owner to log in, and so to give a client access. As on the real page, there is no button that declines. */
export function loginPage(
  locationName: string,
  { clientId, redirectUri, state }: LoginQuestion,
  isWrong: boolean,
): Page {
  const body = html`${siteMasthead}
<main>
${isWrong ? html`<p class="card notice" role="alert">Invalid username or password.</p>` : undefined}
<form class="card" method="post" action="/auth/authorize">
<h1>Log in to ${clip(locationName, 60)}</h1>
<p>You are about to give <strong>${clip(clientId, 120)}</strong> access to your Home Assistant instance.</p>
<p><label>Username<br><input type="text" name="username" autocomplete="username" required></label></p>
<p><label>Password<br><input type="password" name="password" autocomplete="current-password" required></label></p>
<input type="hidden" name="client_id" value="${clientId}">
<input type="hidden" name="redirect_uri" value="${redirectUri}">
<input type="hidden" name="state" value="${state}">
<button>Log in</button>
</form>
<p class="soft">Here everybody is <code>${owner.name}</code> with the password <code>${owner.password}</code>.</p>
</main>`;
  return { title: "Log in", body, site };
}

export function refusedPage(sentence: string): Page {
  const body = html`${siteMasthead}<main><div class="card"><h1>Invalid request</h1><p>${sentence}</p></div></main>`;
  return { title: "Invalid request", body, site };
}
