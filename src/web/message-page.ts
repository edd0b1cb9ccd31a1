import { type Html, html } from "./html.ts";
import { type Icon, iconOf } from "./icons.ts";
import { type Brand, named, type Page, pageOf } from "./page.ts";

export interface MessagePageValues {
  readonly kind: "error" | "declined" | "expired" | "accepted";
  readonly brand?: Brand | undefined;
  readonly clientName?: string | undefined;
  /** What is wrong, for the user. */
  readonly sentence?: string | undefined;
  readonly requestId?: string | undefined;
  /** The address that returns to the app. */
  readonly backUrl?: string | undefined;
}

interface Message {
  readonly icon: Icon;
  readonly title: string;
  readonly words: Html;
}

/** A page with one message to the user, and what to do next. */
export function messagePage(values: MessagePageValues): Page {
  const { kind, brand, requestId } = values;
  const { icon, title, words } = messageOf(values);
  const main = html`<div class="message ${kind === "accepted" ? "done" : kind}">${iconOf(icon)}
<h1>${title}</h1>
${words}</div>`;
  const footer = requestId ? html`<p>Request <span class="id">${requestId}</span></p>` : undefined;
  return pageOf({ title, brand, main, footer });
}

function messageOf({ kind, clientName, sentence, backUrl }: MessagePageValues): Message {
  const app = clientName === undefined ? html`the app` : named(clientName);
  if (kind === "expired") {
    return {
      icon: "clock",
      title: "This page has expired",
      words: html`<p>Start again from ${app}.</p>
${backUrl === undefined ? undefined : html`<p><a href="${backUrl}">Back to ${app}</a></p>`}`,
    };
  }
  if (kind === "declined") {
    return {
      icon: "cross",
      title: "Nothing was shared",
      words: html`<p>You declined, so ${app} has no access to your account. You can close this page.</p>`,
    };
  }
  if (kind === "accepted") {
    return {
      icon: "check",
      title: "You accepted",
      words: html`<p>Go on in ${app}. If it has no access there, start again from ${app}. You can close this page.</p>`,
    };
  }
  return {
    icon: "warning",
    title: "Something isn’t right",
    words: html`<p>${sentence ?? "Something went wrong."}</p>
<p>Go back to ${app} and start again from there.</p>`,
  };
}
