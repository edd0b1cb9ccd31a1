import { type Html, html } from "../../web/html.ts";
import { hiddenFields } from "../../web/page.ts";

export interface ActionButton {
  /** The name of the command: `operator sessions end`. */
  readonly act: string;
  /** The command's options. */
  readonly input?: Readonly<Record<string, string>>;
  /** The page to show afterwards. */
  readonly to: string;
  readonly words: string;
  /** What the button acts on, for those who can't see the row that it stands in. */
  readonly about?: string;
}

/** A button that runs one call of /admin/v1. */
export function actionButton({ act, input = {}, to, words, about }: ActionButton): Html {
  return html`<form class="inline" method="post" action="/console/do">
${hiddenFields({ act, to, ...input })}<button class="quiet"${about === undefined ? undefined : html` aria-label="${words}: ${about}"`}>${words}</button></form>`;
}
