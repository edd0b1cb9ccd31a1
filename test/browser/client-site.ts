import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** The client's own web site, on another site than ours: a link to begin with, and a page to come back to. */
export interface ClientSite {
  readonly url: string;
  readonly redirectUri: string;
  /** What browsers have brought back, in order. */
  readonly arrivals: URLSearchParams[];
  /** Where its link leads. */
  linkTo: string;
  /** What it does with a code before it answers. */
  redeem: (code: string) => Promise<void>;
}

export async function clientSite(test: TestContext): Promise<ClientSite> {
  const arrivals: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", site.url);
    const show = (status: number, body: string) =>
      response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>${body}`);
    if (pathname === "/") return show(200, `<a href="${site.linkTo.replaceAll("&", "&amp;")}">Link my account</a>`);
    if (pathname !== "/callback") return show(404, "");
    arrivals.push(searchParams);
    const code = searchParams.get("code");
    if (code !== null) await site.redeem(code);
    return show(200, `<h1>Back at Lantern</h1><p>${code === null ? "No access" : "Linked"}</p>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // The service is at 127.0.0.1: another name is another site to a browser, with no cookie in common.
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const site: ClientSite = {
    url,
    redirectUri: `${url}/callback`,
    arrivals,
    linkTo: url,
    redeem: async () => undefined,
  };
  return site;
}
