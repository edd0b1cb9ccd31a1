import { type Html, html } from "../../web/html.ts";
import { type Icon, iconOf } from "../../web/icons.ts";
import { type Brand, hiddenFields, hostOf, named, type Page, pageOf } from "../../web/page.ts";
import { type HomeSummary, type StructureSummary, summaryLine } from "../home-summary.ts";
import type { SessionProblem } from "../session-status.ts";

/** What every page of a session knows. */
export interface PageFrame {
  readonly brand: Brand;
  /** Undefined when an operator of the tenant made the page. */
  readonly clientName: string | undefined;
  /** The address back to the client, with the session's id; undefined without a return address. */
  readonly back: string | undefined;
}

interface Message {
  readonly look: "done" | "error" | "expired" | "declined";
  readonly icon: Icon;
  readonly title: string;
  readonly words: Html;
}

/** A link that looks like a button. */
const buttonStyle =
  ".button{display:block;margin-top:1.5rem;padding:.75rem 1rem;font-weight:600;text-align:center;text-decoration:none;border-radius:.625rem;border:1.5px solid var(--edge);background:var(--accent);color:var(--on-accent)}\n";

/** A page with one message, and the way back to the client. */
function messagePage(
  { brand, clientName, back }: PageFrame,
  message: Message,
  more: Partial<Page & PageMore> = {},
): Page {
  const { look, icon, title, words } = message;
  const isLast = back === undefined && more.continuesAt === undefined;
  const way = isLast ? html`<p>You can close this page.</p>` : undefined;
  const main = html`<div class="message ${look}">${iconOf(icon)}
<h1>${title}</h1>
${words}
${way}</div>
${more.form}
${back === undefined || more.form ? undefined : html`<p><a class="button" href="${back}">Back to <bdi>${clientName ?? brand.tenantName}</bdi></a></p>`}
${more.outcome}`;
  const footer = back === undefined ? undefined : html`<p>Afterwards you return to ${hostOf(new URL(back).host)}.</p>`;
  return pageOf({
    title,
    brand,
    main,
    footer,
    continuesAt: more.continuesAt,
    moreStyle: buttonStyle,
    script: more.script,
  });
}

interface PageMore {
  readonly form: Html | undefined;
  /** The message for a window that opened this page as a popup. */
  readonly outcome: Html | undefined;
  readonly continuesAt: string | undefined;
  readonly script: string | undefined;
}

/** What a popup tells the window that opened it. */
export interface PopupMessage {
  readonly linkSession: string;
  readonly state: string | null;
  readonly status: string;
}

/**
 * In a popup: tells the window that opened it, if that is a page of the registered origin, and closes. The browser
 * drops the message for any other origin.
 */
const popupScript = `const outcome = document.getElementById("outcome");
if (window.opener) {
  window.opener.postMessage(JSON.parse(outcome.dataset.message), outcome.dataset.origin);
  window.close();
}`;

function popup(back: string | undefined, message: PopupMessage): Partial<PageMore> {
  if (back === undefined) return {};
  const outcome = html`<div id="outcome" hidden data-origin="${new URL(back).origin}" data-message="${JSON.stringify(message)}"></div>`;
  return { outcome, script: popupScript };
}

export function linkedPage(frame: PageFrame, accountName: string, homes: HomeSummary, message: PopupMessage): Page {
  if (homes.length === 0) return nothingSharedPage(frame, accountName, message);
  const words = html`${homes.map((home) => html`<p>${homeLine(home)}</p>`)}
<p>${named(frame.brand.tenantName)} can read your home now, and keeps it up to date.</p>`;
  return messagePage(
    frame,
    { look: "done", icon: "check", title: "Your home is connected", words },
    popup(frame.back, message),
  );
}

/** The owner has consented, but has chosen no home there. */
function nothingSharedPage(frame: PageFrame, accountName: string, message: PopupMessage): Page {
  const words = html`<p>Your ${accountName} shares no devices yet.</p>
<p>${named(frame.brand.tenantName)} shows devices that you share there later.</p>`;
  const empty = { look: "done", icon: "check", title: "Your account is connected", words } as const;
  return messagePage(frame, empty, popup(frame.back, message));
}

function homeLine(home: StructureSummary): Html {
  return html`<bdi class="name">${summaryLine(home)}</bdi>`;
}

export function declinedPage(frame: PageFrame, message: PopupMessage): Page {
  const words = html`<p>You declined, so ${named(frame.brand.tenantName)} has got no access to your home. Nothing was changed.</p>`;
  const declined = { look: "declined", icon: "cross", title: "Nothing was connected", words } as const;
  return messagePage(frame, declined, popup(frame.back, message));
}

/** The session has failed for good. `sentence` says why, `detail` is the technical reason. */
export function failedPage(frame: PageFrame, sentence: string, detail: string, message: PopupMessage): Page {
  const words = html`<p>${sentence}</p>
${detail === "" ? undefined : html`<p class="small">${detail}</p>`}`;
  const failed = { look: "error", icon: "warning", title: "Your home was not connected", words } as const;
  return messagePage(frame, failed, popup(frame.back, message));
}

export function alreadyLinkedPage(frame: PageFrame, accountName: string, message: PopupMessage): Page {
  const words = html`<p>This ${named(frame.brand.tenantName)} account shows a home of a ${accountName} already. Nothing was changed.</p>`;
  const already = { look: "done", icon: "check", title: "A home is connected already", words } as const;
  return messagePage(frame, already, popup(frame.back, message));
}

/** The page while the account is read. It continues by itself: the next request waits for the outcome. */
export function readingPage(frame: PageFrame, continuesAt: string): Page {
  const words = html`<p role="status">This takes a few seconds. The page continues by itself.</p>
<p><a href="${continuesAt}">Continue now</a></p>`;
  const reading = { look: "expired", icon: "clock", title: "Reading your home …", words } as const;
  return messagePage({ ...frame, back: undefined }, reading, { continuesAt });
}

export interface Form {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

/** Two answers side by side, neither of them suggested. */
function formOf({ action, hidden }: Form, no: readonly [string, string], yes: readonly [string, string]): Html {
  const button = ([value, words]: readonly [string, string]) =>
    html`<button type="submit" name="decision" value="${value}">${words}</button>`;
  return html`<form method="post" action="${action}">
${hiddenFields(hidden)}
<div class="pair">${button(no)}${button(yes)}</div>
</form>`;
}

export function unreachablePage(
  frame: PageFrame,
  accountName: string,
  { side, description }: SessionProblem,
  form: Form,
): Page {
  const cause =
    side === "ecosystem"
      ? html`Your ${accountName} gave no usable answer.`
      : html`We could not finish at this moment. Your ${accountName} is not the cause.`;
  const words = html`<p>${cause} Nothing was changed. Wait a moment and try again.</p>
<p class="small">${description}</p>`;
  const unreachable = { look: "error", icon: "warning", title: "Your home can’t be read now", words } as const;
  return messagePage(frame, unreachable, { form: formOf(form, ["cancel", "Cancel"], ["continue", "Try again"]) });
}

/** Renewal with another account than before: the user decides whether the device shows the other one. */
export function anotherAccountPage(frame: PageFrame, homes: HomeSummary, form: Form): Page {
  const shown =
    homes.length === 0
      ? html`<p>You signed in to another account than before. It shares no devices.</p>`
      : html`<p>You signed in to another account than before. It shows:</p>
${homes.map((home) => html`<p>${homeLine(home)}</p>`)}`;
  const words = html`${shown}
<p>If you switch, this home replaces the one that is connected now. Alerts on devices of the old home are switched off.</p>`;
  const asking = { look: "error", icon: "warning", title: "This is another home", words } as const;
  const buttons = formOf(form, ["keep", "Keep the old home"], ["switch", "Switch"]);
  return messagePage(frame, asking, { form: buttons });
}

/** How to get another page; the beginning of a sentence. */
function startAgain({ brand, clientName }: PageFrame): Html {
  if (clientName === undefined) return html`Ask ${named(brand.tenantName)} for a new link`;
  return html`Start again from ${named(clientName)}`;
}

export function expiredPage(frame: PageFrame): Page {
  const words = html`<p>The page was valid for 30 minutes. ${startAgain(frame)}.</p>`;
  return messagePage(frame, { look: "expired", icon: "clock", title: "This page has expired", words });
}

export function otherBrowserPage(frame: PageFrame): Page {
  const words = html`<p>This page was opened in another browser, and is valid only there. Go on in that browser. ${startAgain(frame)} if you can’t.</p>`;
  return messagePage(
    { ...frame, back: undefined },
    { look: "error", icon: "warning", title: "Go on in the other browser", words },
  );
}

export function usedPage(frame: PageFrame): Page {
  const words = html`<p>This page can be used once, and it was used. ${startAgain(frame)} to connect another home.</p>`;
  return messagePage(
    { ...frame, back: undefined },
    { look: "expired", icon: "clock", title: "This page was used already", words },
  );
}
