import { createServer, type IncomingMessage } from "node:http";
import { Breezeway, NotSignedIn } from "@breezeway/sdk";
import { answer, type Directive } from "./skill.ts";

/**
 * The skill's own endpoint. The assistant's cloud did the account linking (Breezeway's authorization server knows it as a
 * client) and sends the user's access token along with each directive; it also refreshes it. So nothing is kept here.
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
    // The user has ended the access, or the token is too old: the assistant refreshes it, or asks them to link again.
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
