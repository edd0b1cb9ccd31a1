import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Breezeway, OAuthClient, TokenKeeper, type Tokens } from "@breezeway/sdk";
import { run } from "./engine.ts";
import { readRules } from "./rules.ts";
import { signIn } from "./sign-in.ts";

/** `node main.ts rules.json`: the client's id and secret come by CLIENT_ID and CLIENT_SECRET. */
const [, , rulesFile = "rules.json"] = process.argv;
const {
  BREEZEWAY_URL: baseUrl = "http://127.0.0.1:8080",
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
} = process.env;
if (!clientId || !clientSecret)
  throw new Error("Set CLIENT_ID and CLIENT_SECRET, as breezeway client add printed them.");

const tell = (sentence: string) => console.error(sentence);
const rules = readRules(readFileSync(rulesFile, "utf8"));
const client = { baseUrl, clientId, clientSecret };
const tokens = {
  load: (): Tokens | undefined =>
    existsSync("tokens.json") ? JSON.parse(readFileSync("tokens.json", "utf8")) : undefined,
  save: (fresh: Tokens) => keep("tokens.json", JSON.stringify(fresh)),
};
if (!tokens.load()) tokens.save(await signIn(client, Number(process.env.PORT ?? 9100), tell));

const breezeway = new Breezeway({ baseUrl, accessToken: new TokenKeeper(new OAuthClient(client), tokens) });
const position = {
  load: () => (existsSync("position") ? readFileSync("position", "utf8") : undefined),
  save: (eventId: string) => keep("position", eventId),
};
await run(breezeway, rules, position, tell);

/** All or nothing, and for nobody else's eyes. */
function keep(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
