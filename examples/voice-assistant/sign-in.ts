import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuthClient, type OAuthOptions, type Tokens } from "@breezeway/sdk";

/** OAuth code flow with PKCE: the user signs in and consents in a browser, which is redirected to a port of this machine. */
export async function signIn(
  client: Omit<OAuthOptions, "redirectUri">,
  port: number,
  tell: (sentence: string) => void,
): Promise<Tokens> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  const back = `http://127.0.0.1:${(server.address() as AddressInfo).port}/back`;
  try {
    const oauth = new OAuthClient({ ...client, redirectUri: back });
    const authorization = await oauth.begin();
    tell(`open ${authorization.url}`);
    for (;;) {
      const [request, response] = await once(server, "request");
      const isBack = request.url.startsWith("/back");
      response.writeHead(isBack ? 200 : 404, { "content-type": "text/plain", connection: "close" });
      response.end(isBack ? "You can close this page.\n" : "There is nothing here.\n");
      if (isBack) return await oauth.finish(new URL(request.url, back), authorization);
    }
  } finally {
    server.close();
  }
}
