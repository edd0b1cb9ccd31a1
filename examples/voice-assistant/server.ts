import { createServer, type IncomingMessage } from "node:http";
import { Breezeway, NotSignedIn } from "@breezeway/sdk";
import { answer, type Directive } from "./skill.ts";

/**
 * The skill's HTTP server. The assistant's cloud is the OAuth client: it links the account, refreshes the access token,
 * and sends it with each directive. So the skill stores nothing.
 */
const baseUrl = process.env.BREEZEWAY_URL ?? "http://127.0.0.1:8080";
const names = ["Discover", "ReportState", "TurnOnFan", "TurnOffFan"];

const server = createServer(async (request, response) => {
  const reply = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  try {
    const accessToken = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (!accessToken) return reply(401, { name: "LinkAgain" });
    const directive = await readDirective(request);
    if (!directive) return reply(400, { name: "NotUnderstood", names });
    reply(200, await answer(new Breezeway({ baseUrl, accessToken }), directive));
  } catch (error) {
    // The access was revoked or the token has expired: the assistant refreshes it, or asks the user to link again.
    if (error instanceof NotSignedIn) return reply(401, { name: "LinkAgain" });
    reply(502, { name: "Sorry", speech: "Your home can't be reached just now." });
  }
});

server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : "";
  console.error(`the skill listens on http://127.0.0.1:${port}`);
});

async function readDirective(request: IncomingMessage): Promise<Directive | undefined> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const directive = JSON.parse(Buffer.concat(chunks).toString());
    const isKnown =
      names.includes(directive?.name) && (directive.name === "Discover" || typeof directive.endpointId === "string");
    return isKnown ? directive : undefined;
  } catch {
    return undefined;
  }
}
