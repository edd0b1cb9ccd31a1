import { createHash } from "node:crypto";
import { mark } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { Page } from "../../src/web/page.ts";
import { style } from "./style.ts";

export interface DocumentParts {
  readonly title: string;
  readonly body: Html;
  readonly script?: string;
  /** Rules that only this page needs. */
  readonly moreStyle?: string;
  /** The state that the page shows is not current. */
  readonly isUnknown?: boolean;
}

/** A whole page of the demo. */
export function pageOf({ title, body, script = "", moreStyle = "", isUnknown = false }: DocumentParts): Page {
  const rules = style + moreStyle;
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Breezeway demo</title>
<link rel="icon" href="${icon}">`;
  // Style and script are not escaped: the policy holds the digests of their exact text.
  const text = `<!doctype html>
<html lang="en"${isUnknown ? ' class="is-unknown"' : ""}>
<head>
${head.text}
<style>${rules}</style>
</head>
<body>
${body.text}
${script === "" ? "" : `<script>${script}</script>`}
</body>
</html>
`;
  return { html: text, contentSecurityPolicy: policy(rules, script) };
}

/** A page that says why the house is not shown, and what to do. */
export function messagePage(title: string, sentence: string): Page {
  return pageOf({ title, body: html`<main class="message">${mark}<h1>${title}</h1><p>${sentence}</p></main>` });
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 26 26'%3E%3Crect width='26' height='26' rx='7' fill='%230b6470'/%3E%3Cpath d='M6 10h9a2.500 2.500 0 1 0-2.500-2.500M6 13.500h12.500a2.500 2.500 0 1 1-2.500 2.500M6 17h6' fill='none' stroke='%23fff' stroke-width='1.800' stroke-linecap='round'/%3E%3C/svg%3E";

/** Allows only the page's own style and script, by digest, and connections to the service that sent the page. */
function policy(rules: string, script: string): string {
  const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return [
    "default-src 'none'",
    `style-src ${digest(rules)}`,
    ...(script === "" ? [] : [`script-src ${digest(script)}`, "connect-src 'self'"]),
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
