import { html } from "../../pages/html.ts";

/** Stands on every page of the simulated instance, so that nobody takes it for a real one. */
export const site = "Simulated Home Assistant";

export const siteMasthead = html`<header class="brand"><svg viewBox="0 0 24 24" width="30" height="30" aria-hidden="true"><path fill="currentColor" d="M12 2 2 11h3v10h14V11h3z"/><circle class="flame" cx="12" cy="14" r="3"/></svg><span>${site}</span></header>`;
