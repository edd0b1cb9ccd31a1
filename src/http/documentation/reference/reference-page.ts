import { createHash } from "node:crypto";
import { type Html, html } from "../../../web/html.ts";
import type { Page } from "../../../web/page.ts";
import type { Route } from "../../routes.ts";
import { type DescribedRoute, describedRoutes } from "../described-route.ts";
import type { TagName } from "../description.ts";
import type { Deployment } from "../openapi.ts";
import { tags } from "../tags.ts";
import { attributeSection } from "./attribute-section.ts";
import { introductionSections, introductions } from "./introduction.ts";
import { methodMark, operationSection } from "./operation.ts";
import { style } from "./reference-style.ts";
import { anchor, renderText } from "./render-text.ts";
import { traitSection } from "./trait-section.ts";

/** The operations with one tag. */
interface Chapter {
  readonly tag: TagName;
  readonly operations: readonly DescribedRoute[];
}

/** The whole reference as one self-contained page: no script, no font and no image from elsewhere. */
export function referencePage(routes: readonly Route[], deployment: Deployment): Page {
  const all = chapters(describedRoutes(routes));
  const links = navigation(all);
  const body = html`<a class="skip" href="#introduction">Skip to the reference</a>
<header class="bar"><a class="brand" href="#introduction">${mark}<span>Breezeway</span></a><a class="to-contents" href="#contents">Contents</a></header>
<div class="columns">
<aside class="side"><a class="brand" href="#introduction">${mark}<span>Breezeway</span></a><nav aria-label="Contents">${links}</nav></aside>
<main>
<details class="menu" id="contents"><summary>Contents</summary><nav aria-label="Contents of the page">${links}</nav></details>
${introductionSections(deployment)}
${attributeSection()}
${traitSection()}
${all.map((chapter) => chapterSections(chapter, deployment.baseUrl))}
</main>
</div>`;
  return { html: document(body), contentSecurityPolicy };
}

function chapters(described: readonly DescribedRoute[]): readonly Chapter[] {
  const names = Object.keys(tags) as TagName[];
  return names
    .map((tag) => ({ tag, operations: described.filter(({ description }) => description.tag === tag) }))
    .filter(({ operations }) => operations.length > 0);
}

function navigation(all: readonly Chapter[]): Html {
  return html`<ul>${introductions.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${all.map(
  ({ tag, operations }) => html`<h2><a href="#${anchor(tag)}">${tag}</a></h2>
<ul>${operations.map(({ methods, description }) => html`<li><a href="#${description.operationId}"><span>${description.summary}</span>${methodMark(methods[0]!)}</a></li>`)}</ul>`,
)}`;
}

function chapterSections({ tag, operations }: Chapter, baseUrl: string): Html {
  const id = anchor(tag);
  const addresses = operations.map(
    ({ methods, path, description }) =>
      html`<li><a href="#${description.operationId}">${methodMark(methods[0]!)}<code>${path}</code></a></li>`,
  );
  return html`<section class="operation chapter" id="${id}" aria-labelledby="${id}-title">
<div class="telling"><h2 id="${id}-title"><a href="#${id}">${tag}</a></h2><p class="lead">${renderText(tags[tag])}</p></div>
<div class="showing"><div class="panel endpoints"><p class="caption">Addresses</p><ul>${addresses}</ul></div></div>
</section>
${operations.map((operation) => operationSection(operation, baseUrl))}`;
}

const mark = html`<svg width="26" height="26" viewBox="0 0 26 26" aria-hidden="true"><rect width="26" height="26" rx="7" fill="var(--accent)"/><path d="M6 10h9a2.500 2.500 0 1 0-2.500-2.500M6 13.500h12.500a2.500 2.500 0 1 1-2.500 2.500M6 17h6" fill="none" stroke="var(--on-accent)" stroke-width="1.800" stroke-linecap="round"/></svg>`;
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 26 26'%3E%3Crect width='26' height='26' rx='7' fill='%230b6470'/%3E%3Cpath d='M6 10h9a2.500 2.500 0 1 0-2.500-2.500M6 13.500h12.500a2.500 2.500 0 1 1-2.500 2.500M6 17h6' fill='none' stroke='%23fff' stroke-width='1.800' stroke-linecap='round'/%3E%3C/svg%3E";

/** Allows only the page's own style and icon: no script, frame, form or request. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function document(body: Html): string {
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Breezeway API reference</title>
<link rel="icon" href="${icon}">`;
  // The style is not escaped, because the policy holds its digest.
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
