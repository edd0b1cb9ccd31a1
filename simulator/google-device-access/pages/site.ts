import { html } from "../../pages/html.ts";

/** Stands on every page of the simulated Google, so that nobody takes it for the real one. */
export const site = "Simulated Google";

export const siteMasthead = html`<header class="brand"><svg viewBox="0 0 24 24" width="30" height="30" aria-hidden="true"><circle fill="currentColor" cx="12" cy="12" r="10"/><circle class="flame" cx="12" cy="12" r="4"/></svg><span>${site}</span></header>`;
