import { STATUS_CODES } from "node:http";
import { type Html, html } from "../../../web/html.ts";
import { ndjsonBody } from "../../request/body-types.ts";
import type { ContentDescription } from "../description.ts";
import { jsonCode, jsonLinesCode, xmlCode } from "./code.ts";

/** A framed block of code. It scrolls, so it must be focusable for the keyboard. */
export function panel(title: Html | string, label: string, code: Html, kind = "code"): Html {
  return html`<figure class="panel ${kind}"><figcaption>${title}</figcaption><pre tabindex="0" role="region" aria-label="${label}"><code>${code}</code></pre></figure>`;
}

/** An example answer, if there is one. */
export function answerPanel(status: number, content: ContentDescription | undefined, label: string): Html | undefined {
  if (content?.example === undefined) return undefined;
  const { contentType, example } = content;
  const title = html`<span class="status s${String(status)[0]}">${status} ${STATUS_CODES[status]}</span> <span>${contentType}</span>`;
  return panel(title, label, codeOf(contentType, example));
}

function codeOf(contentType: ContentDescription["contentType"], example: unknown): Html {
  if (contentType === "text/xml") return xmlCode(String(example));
  return contentType === ndjsonBody ? jsonLinesCode(String(example)) : jsonCode(example);
}
