import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Breezeway, NotSignedIn, OAuthClient, TokenKeeper, type Tokens } from "@breezeway/sdk";
import { answer } from "./assistant.ts";
import { signIn } from "./sign-in.ts";
import { roomsOf } from "./things.ts";

/**
 * Usage: `node main.ts turn on the hall fan` says one sentence. Without a sentence it lists the things of all rooms, and
 * then reads sentences from standard input. The client's id and secret are in CLIENT_ID and CLIENT_SECRET.
 */
const sentence = process.argv.slice(2).join(" ");
const {
  BREEZEWAY_URL: baseUrl = "http://127.0.0.1:8080",
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
} = process.env;
if (!clientId || !clientSecret)
  throw new Error("Set CLIENT_ID and CLIENT_SECRET, as breezeway client add printed them.");

const tell = (text: string) => console.error(text);
const scopes = ["devices:read", "devices:control"];
const client = { baseUrl, clientId, clientSecret, scopes };
const tokens = {
  load: (): Tokens | undefined =>
    existsSync("tokens.json") ? JSON.parse(readFileSync("tokens.json", "utf8")) : undefined,
  save: (fresh: Tokens) => {
    writeFileSync("tokens.json.new", JSON.stringify(fresh), { mode: 0o600 });
    renameSync("tokens.json.new", "tokens.json");
  },
};
if (!tokens.load()) tokens.save(await signIn(client, Number(process.env.PORT ?? 9000), tell));

const breezeway = new Breezeway({ baseUrl, accessToken: new TokenKeeper(new OAuthClient(client), tokens) });
try {
  if (sentence) {
    tell(await answer(breezeway, sentence));
  } else {
    for (const line of await roomsOf(breezeway)) tell(line);
    for await (const line of createInterface({ input: process.stdin })) tell(await answer(breezeway, line));
  }
} catch (error) {
  if (!(error instanceof NotSignedIn)) throw error;
  tell("The access has ended. Delete tokens.json, start again, and sign in.");
  process.exitCode = 1;
}
