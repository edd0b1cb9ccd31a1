import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Breezeway, OAuthClient, TokenKeeper, type Tokens } from "@breezeway/sdk";
import { run } from "./engine.ts";
import { readRules } from "./rules.ts";
import { signIn } from "./sign-in.ts";

/** Usage: `node main.ts rules.json`, with the client's id and secret in CLIENT_ID and CLIENT_SECRET. */
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
  save: (fresh: Tokens) => replaceFile("tokens.json", JSON.stringify(fresh)),
};
if (!tokens.load()) tokens.save(await signIn(client, Number(process.env.PORT ?? 9100), tell));

const breezeway = new Breezeway({ baseUrl, accessToken: new TokenKeeper(new OAuthClient(client), tokens) });
const position = {
  load: () => (existsSync("position") ? readFileSync("position", "utf8") : undefined),
  save: (eventId: string) => replaceFile("position", eventId),
};
await run(breezeway, rules, position, tell);

/** Replaces the file atomically; only its owner can read it. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
