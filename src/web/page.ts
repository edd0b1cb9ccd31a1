import { createHash } from "node:crypto";
import { type Html, html } from "./html.ts";
import { styleFor } from "./style.ts";

/** A whole page as it is sent, with the policy that it needs and no more. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** How a tenant looks to its users. */
export interface Brand {
  readonly tenantName: string;
  /** "#rrggbb", of which accentProblem has nothing to say. */
  readonly accent: string | undefined;
  /** A path on our own host. */
  readonly logoUrl: string | undefined;
  /** An https address. */
  readonly supportUrl: string | undefined;
}

export interface PageParts {
  readonly title: string;
  readonly brand: Brand | undefined;
  readonly main: Html;
  /** What stands below the card, in small letters. */
  readonly footer?: Html | undefined;
}

export function pageOf({ title, brand, main, footer }: PageParts): Page {
  const style = styleFor(brand?.accent);
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${brand ? `${title} · ${brand.tenantName}` : title}</title>`;
  const body = html`<div class="card">
${brand && masthead(brand)}
<main>
${main}
</main>
</div>
${footerOf(brand, footer)}`;
  // The style is written as it is: its digest stands in the policy.
  const text = `<!doctype html>
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
  return { html: text, contentSecurityPolicy: policyFor(style) };
}

/**
 * Nothing but our own style and our own pictures. There is no form-action: a browser holds it against the redirect that
 * follows a form, and that one leads to the app.
 */
function policyFor(style: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function masthead({ tenantName, logoUrl }: Brand): Html {
  return logoUrl
    ? html`<header><img class="logo" src="${logoUrl}" alt="${tenantName}"></header>`
    : html`<header class="wordmark"><bdi>${tenantName}</bdi></header>`;
}

function footerOf(brand: Brand | undefined, words: Html | undefined): Html | undefined {
  const help = brand?.supportUrl
    ? html`<p><a href="${brand.supportUrl}" rel="noreferrer">Help from <bdi>${brand.tenantName}</bdi></a></p>`
    : undefined;
  return words || help ? html`<footer>${words}${help}</footer>` : undefined;
}

/** The fields that go along with a form without being seen. */
export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** A name of somebody or something, set apart so that its direction of writing touches nothing around it. */
export function named(name: string): Html {
  return html`<bdi class="name">${name}</bdi>`;
}

/** A host is read from left to right, whatever stands around it. */
export function hostOf(host: string): Html {
  return html`<bdi class="host" dir="ltr">${host}</bdi>`;
}
