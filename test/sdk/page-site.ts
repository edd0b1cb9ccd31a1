import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** The site of an app whose pages use the SDK, with the strictest policy, on another origin than the service. */
export interface PageSite {
  readonly origin: string;
  /** The same pages on an origin that BREEZEWAY_CORS_ORIGINS does not name. */
  readonly otherOrigin: string;
  /** The folder of the pages, and the address that they may call. Set before a page is opened. */
  serves: { readonly project: string; readonly service: string; readonly tokenUrl: string; readonly secret: string };
}

const importMap = JSON.stringify({ imports: { "@breezeway/sdk": "/sdk/index.js" } });
const page = `<!doctype html><title>App</title><script type="importmap">${importMap}</script><script type="module" src="/app.js"></script>`;
const callbackPage = `<!doctype html><title>Back</title><script type="module" src="/callback.js"></script>`;
const callbackScript = `new BroadcastChannel("callback").postMessage(location.href);`;
const appScript = `import * as sdk from "@breezeway/sdk";
import { linkHome } from "/link-a-home.js";

const askUser = (url) =>
  new Promise((resolve) => {
    new BroadcastChannel("callback").onmessage = ({ data }) => resolve(data);
    window.open(url, "_blank", "noopener");
  });
window.app = {
  sdk,
  link: (options) => linkHome({ ...options, askUser }),
  failure: (call) => call.then(() => "no failure", ({ name, retryAfterSeconds }) => ({ name, retryAfterSeconds })),
  async firstEvent(options) {
    const stop = new AbortController();
    for await (const event of new sdk.Breezeway(options).events({ signal: stop.signal })) {
      if (event.type !== "attribute") continue;
      stop.abort();
      return event;
    }
  },
};`;

export async function pageSite(test: TestContext): Promise<PageSite> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", site.origin);
    const { project, service, tokenUrl, secret } = site.serves;
    const show = (type: string, body: string) =>
      response.writeHead(200, { "content-type": type, "content-security-policy": policy(service) }).end(body);
    const script = (body: string) => show("text/javascript", body);
    if (pathname === "/") return show("text/html", page);
    if (pathname === "/callback") return show("text/html", callbackPage);
    if (pathname === "/app.js") return script(appScript);
    if (pathname === "/callback.js") return script(callbackScript);
    if (pathname === "/link-a-home.js") return script(readFileSync(join(project, "link-a-home.js"), "utf8"));
    if (/^\/sdk\/[\w-]+\.js$/.test(pathname)) {
      return script(readFileSync(join(project, "node_modules/@breezeway/sdk/dist", pathname.slice(5)), "utf8"));
    }
    if (pathname !== "/ecosystem-token") return response.writeHead(404).end();
    // The code exchange needs the client's secret, which stays on the server.
    let sent = "";
    for await (const piece of request) sent += piece;
    const body = new URLSearchParams(sent);
    body.set("client_secret", secret);
    const answer = await fetch(tokenUrl, { method: "POST", body });
    return response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  server.listen(0);
  await once(server, "listening");
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const site: PageSite = {
    origin: `http://localhost:${port}`,
    otherOrigin: `http://127.0.0.1:${port}`,
    serves: { project: "", service: "", tokenUrl: "", secret: "" },
  };
  return site;
}

/** Allows only the site's own scripts and the import map; no eval. */
function policy(service: string): string {
  const map = createHash("sha256").update(importMap).digest("base64");
  const scripts = `script-src 'self' 'sha256-${map}'`;
  return `default-src 'none'; ${scripts}; connect-src 'self' ${service}; base-uri 'none'; require-trusted-types-for 'script'`;
}
