import { createHash } from "node:crypto";
import { type Html, html } from "./html.ts";
import { styleFor } from "./style.ts";

/** A complete page, with the strictest Content-Security-Policy under which it works. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** The branding of a tenant's pages. */
export interface Brand {
  readonly tenantName: string;
  /** "#rrggbb", with enough contrast (accentProblem). */
  readonly accent: string | undefined;
  /** A path of this service. */
  readonly logoUrl: string | undefined;
  /** An https address. */
  readonly supportUrl: string | undefined;
}

export interface PageParts {
  readonly title: string;
  readonly brand: Brand | undefined;
  readonly main: Html;
  /** Small text below the card. */
  readonly footer?: Html | undefined;
  /** The address that the browser opens as soon as the page is shown, without a script. */
  readonly continuesAt?: string | undefined;
  /** Rules that only this page needs. */
  readonly moreStyle?: string | undefined;
  /** A script that makes the page more convenient. The page works without it. */
  readonly script?: string | undefined;
}

export function pageOf({ title, brand, main, footer, continuesAt, moreStyle = "", script }: PageParts): Page {
  const style = styleFor(brand?.accent) + moreStyle;
  const body = html`<div class="card">
${brand && masthead(brand)}
<main>
${main}
</main>
</div>
${footerOf(brand, footer)}`;
  const shownTitle = brand ? `${title} · ${brand.tenantName}` : title;
  // There is no form-action: browsers also apply it to the redirect after a form, which leads to the client.
  return written({ head: headOf(shownTitle, continuesAt), body, bodyClass: "", style, script, sources: [] });
}

export interface FramedPageParts {
  readonly title: string;
  readonly bodyClass: string;
  readonly body: Html;
  readonly moreStyle: string;
  /** Paths of scripts that this service serves. */
  readonly scripts?: readonly string[];
  /** Whether it shows pages of this service in frames. */
  readonly hasFrames?: boolean;
}

/** A page that lays out its whole body itself, such as the console. Its forms lead back to this service. */
export function framedPage({
  title,
  bodyClass,
  body,
  moreStyle,
  scripts = [],
  hasFrames = false,
}: FramedPageParts): Page {
  const style = styleFor(undefined) + moreStyle;
  const loaded = scripts.map((path) => html`<script type="module" src="${path}"></script>`);
  const scriptSources = scripts.length === 0 ? [] : ["script-src 'self'", "worker-src 'self'", "connect-src 'self'"];
  const sources = ["form-action 'self'", ...scriptSources, ...(hasFrames ? ["frame-src 'self'"] : [])];
  return written({
    head: headOf(title, undefined),
    body: html`${body}${loaded}`,
    bodyClass,
    style,
    script: undefined,
    sources,
  });
}

function headOf(title: string, continuesAt: string | undefined): Html {
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">${
    continuesAt === undefined
      ? undefined
      : html`
<meta http-equiv="refresh" content="0; url=${continuesAt}">`
  }
<title>${title}</title>`;
}

interface Written {
  readonly head: Html;
  readonly body: Html;
  readonly bodyClass: string;
  readonly style: string;
  readonly script: string | undefined;
  /** Further directives of the policy. */
  readonly sources: readonly string[];
}

function written({ head, body, bodyClass, style, script, sources }: Written): Page {
  // Style and script are inserted unescaped: their digests are in the policy.
  const text = `<!doctype html>
<html lang="en">
<head>
${head.text}
<style>${style}</style>
</head>
<body${bodyClass === "" ? "" : ` class="${bodyClass}"`}>
${body.text}
${script === undefined ? "" : `<script>${script}</script>\n`}</body>
</html>
`;
  return { html: text, contentSecurityPolicy: policyFor(style, script, sources) };
}

/** Allows only our own style, script and pictures, and what else the page names. */
function policyFor(style: string, script: string | undefined, sources: readonly string[]): string {
  const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return [
    "default-src 'none'",
    `style-src ${digest(style)}`,
    ...(script === undefined ? [] : [`script-src ${digest(script)}`]),
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...sources,
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

/** Hidden fields of a form. */
export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** A name, isolated so that its writing direction does not affect the text around it. */
export function named(name: string): Html {
  return html`<bdi class="name">${name}</bdi>`;
}

/** A host name is always written from left to right. */
export function hostOf(host: string): Html {
  return html`<bdi class="host" dir="ltr">${host}</bdi>`;
}
