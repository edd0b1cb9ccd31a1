import { Breezeway, ClientTokens, OAuthClient } from "@breezeway/sdk";
import { run } from "./cloud.ts";
import { tenLamps } from "./lamp.ts";
import { register } from "./registration.ts";

/** Usage: `node main.ts`, with the id and the secret of an enterprise client in CLIENT_ID and CLIENT_SECRET. */
const {
  BREEZEWAY_URL: baseUrl = "http://127.0.0.1:8080",
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
  USER_ID: owner,
} = process.env;
if (!clientId || !clientSecret)
  throw new Error("Set CLIENT_ID and CLIENT_SECRET, as breezeway client add printed them.");

const tell = (sentence: string) => console.error(sentence);
const scopes = ["devices:read", "devices:control"];
const oauth = new OAuthClient({ baseUrl, clientId, clientSecret, scopes });
const breezeway = new Breezeway({ baseUrl, accessToken: new ClientTokens(oauth) });
const userId = owner ? Number(owner) : (await breezeway.getUsers())[0];
if (userId === undefined) throw new Error("The tenant has no user. Add one with breezeway user add.");
await run(breezeway, await register(breezeway, userId, tenLamps(), tell), tell);
