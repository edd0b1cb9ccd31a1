import type { IncomingMessage } from "node:http";
import { html } from "../../web/html.ts";
import { iconOf } from "../../web/icons.ts";
import { type Page, pageOf } from "../../web/page.ts";
import type { Exchange } from "../exchange.ts";
import { type Answer, pageAnswer, redirectAnswer } from "./answer.ts";

/** Below these paths every answer has its own format, also for a browser. */
const otherShapes = /^\/(zdk|adaptor|acc)(\/|$)/;

/** The addresses of pages, with a slash at the end that our routes don't have. */
const pageWithSlash = /^(\/(?:docs|console|account)(?:\/[^/?]+)*)\/(\?.*)?$/s;

/**
 * The answer for a browser at an unknown address, or at one that takes no GET: a page instead of the error object, or a
 * redirect to the page that was meant. Undefined for every other client. A redirect is no failure of the exchange.
 */
export function answerForBrowser(
  { method, url = "/", headers }: Pick<IncomingMessage, "method" | "url" | "headers">,
  refusal: Answer,
  exchange: Pick<Exchange, "requestId" | "failure"> | undefined,
): Answer | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const target = redirectTarget(url, headers.accept);
  if (target !== undefined) {
    if (exchange) exchange.failure = undefined;
    return redirectAnswer(302, target);
  }
  const path = pathOf(url);
  if (!prefersPage(headers.accept) || otherShapes.test(path)) return undefined;
  const { allow } = refusal.headers;
  const page = wrongAddressPage(path, exchange?.requestId ?? "");
  return pageAnswer(refusal.status, page, { vary: "accept", ...(allow && { allow }) });
}

function redirectTarget(url: string, accept: string | undefined): string | undefined {
  const [, page, query = ""] = pageWithSlash.exec(url) ?? [];
  if (page !== undefined) return page + query;
  return pathOf(url) === "/" && prefersPage(accept) ? "/console" : undefined;
}

function pathOf(url: string): string {
  return url.replace(/\?.*$/s, "");
}

/**
 * Whether the client prefers HTML to JSON. Java's HttpURLConnection also names text/html by default and is no browser;
 * it is recognised by a single `*`.
 */
export function prefersPage(accept = ""): boolean {
  const ranges = accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
  });
  const qualityOf = (type: string) => ranges.find((range) => range.type === type)?.quality ?? 0;
  if (ranges.some(({ type }) => type === "*")) return false;
  return qualityOf("text/html") > 0 && qualityOf("text/html") >= qualityOf("application/json");
}

function wrongAddressPage(path: string, requestId: string): Page {
  const title = "There is no page here";
  const main = html`<div class="message">${iconOf("warning")}
<h1>${title}</h1>
<p>Check the address for a typing mistake. If an app brought you here, go back to the app and start again from there.</p>
${/^\/console\//.test(path) ? html`<p><a href="/console">Back to the console</a></p>` : ""}
<p>For developers: <a href="/docs">everything that can be called</a>.</p></div>`;
  const footer = html`<p>Request <span class="id">${requestId}</span></p>`;
  return pageOf({ title, brand: undefined, main, footer });
}
