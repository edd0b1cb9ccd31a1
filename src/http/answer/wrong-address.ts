import type { IncomingMessage } from "node:http";
import { html } from "../../web/html.ts";
import { iconOf } from "../../web/icons.ts";
import { type Page, pageOf } from "../../web/page.ts";
import { type Answer, pageAnswer, redirectAnswer } from "./answer.ts";

/** Below these paths every answer has its own format, also for a browser. */
const otherShapes = /^\/(zdk|adaptor|acc)(\/|$)/;

/**
 * The answer for a browser at an unknown address, or at one that takes no GET: a page instead of the error object, or a
 * redirect to the reference. Undefined for every other client.
 */
export function answerForBrowser(
  { method, url = "/", headers }: Pick<IncomingMessage, "method" | "url" | "headers">,
  refusal: Answer,
  requestId: string,
): Answer | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const path = url.replace(/\?.*$/s, "");
  if (path === "/docs/") return redirectAnswer(302, "/docs");
  if (!prefersPage(headers.accept) || otherShapes.test(path)) return undefined;
  if (path === "/") return redirectAnswer(302, "/docs");
  const { allow } = refusal.headers;
  return pageAnswer(refusal.status, wrongAddressPage(requestId), { vary: "accept", ...(allow && { allow }) });
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

function wrongAddressPage(requestId: string): Page {
  const title = "There is no page here";
  const main = html`<div class="message">${iconOf("warning")}
<h1>${title}</h1>
<p>Check the address for a typing mistake. If an app brought you here, go back to the app and start again from there.</p>
<p>For developers: <a href="/docs">everything that can be called</a>.</p></div>`;
  const footer = html`<p>Request <span class="id">${requestId}</span></p>`;
  return pageOf({ title, brand: undefined, main, footer });
}
