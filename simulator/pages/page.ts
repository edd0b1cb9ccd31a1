import { createHash } from "node:crypto";
import type { Call } from "../http/call.ts";
import { brand, style } from "./brand.ts";
import { type Html, html } from "./html.ts";

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Stands behind the title; the ecosystem's brand when left out. */
  readonly site?: string;
}

/** Allows only the page's own style and icon. A form-action would block the redirect to the app after a form. */
const contentPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%23a8431a' d='M3 22V11a9 9 0 0 1 18 0v11h-6v-4a3 3 0 0 0-6 0v4z'/%3E%3C/svg%3E";

export function sendPage({ response }: Call, status: number, page: Page): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(pageText(page));
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": body.length,
    "Content-Security-Policy": contentPolicy,
    "Cache-Control": "no-store",
    // With no-referrer, browsers would send `Origin: null` with the simulator's own forms (http/other-sites.ts).
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(body);
}

function pageText({ title, body, site = brand }: Page): string {
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${site}</title>
<link rel="icon" href="${icon}">`;
  // The style is not escaped: the policy holds the digest of its exact text.
  return `<!doctype html>
<html lang="en">
<head>
${head.text}
<style>${style}</style>
</head>
<body>
${body.text}
</body>
</html>
`;
}
