import { setTimeout as sleep } from "node:timers/promises";
import { formOf, ScriptedBrowser } from "../test/oauth/scripted-browser.ts";
import { Connection } from "./connection.ts";
import { addClient, addGrant, type GrantedClient, tokenRequests } from "./granted.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { addUsers } from "./people.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import { Refreshes } from "./refreshes.ts";
import { formRequest } from "./requests.ts";
import type { Row } from "./row.ts";

const floods = 5;
const logins = 200;
const calmMs = 3_000;
/** More than can be asked for at a time. */
const grants = 1_000;

/** Passwords are slow to check by intent. Whoever has a token must not notice that many people are signing in. */
export const loginFlood: Row = {
  name: "login-flood",
  async measure(tell) {
    using folder = preparedFolder({ BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" });
    const { client, refreshTokens } = await prepareGrants(folder);
    await using service = await MeasuredProcess.service(folder.settings);
    using refreshes = new Refreshes(service.url, tokenRequests(client).refresh, refreshTokens);
    tell(`${floods} floods of ${logins} logins, with a calm before each`);
    const calm: (readonly number[])[] = [];
    const flooded: (readonly number[])[] = [];
    // The first calm is for compiling.
    await refreshes.during(sleep(calmMs));
    for (let flood = 1; flood <= floods; flood++) {
      calm.push(await refreshes.during(sleep(calmMs)));
      flooded.push(await refreshes.during(signInInVain(service.url, client, flood)));
    }
    return [
      {
        what: `p99 of refreshes while ${logins} logins with wrong passwords wait`,
        reference: null,
        ...slowest(flooded),
        unit: "ms",
        bar: { atMost: 4_500 },
      },
      { what: "p99 of refreshes while nobody logs in", reference: null, ...slowest(calm), unit: "ms", bar: null },
    ];
  },
};

/** All at once, each with a name and an address that nobody has used before: no limit of failures holds them up. */
async function signInInVain(url: string, client: GrantedClient, flood: number): Promise<void> {
  const browser = new ScriptedBrowser(() => url);
  const question = new URLSearchParams({ response_type: "code", client_id: client.credentials.client_id, state: "s" });
  const { action, fields } = formOf(await browser.get(`/oauth2/authorize?${question}`));
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const places = Array.from({ length: logins }, (_, place) => place);
  await Promise.all(
    places.map(async (place) => {
      using connection = await Connection.to(url);
      const form = { ...fields, username: `nobody-${flood}-${place}`, password: "wrong password" };
      const headers = { cookie, "x-forwarded-for": `10.0.${flood}.${place}` };
      const { status } = await connection.ask(formRequest(new URL(action, url).pathname, form, headers));
      if (status !== 401) throw new Error(`a login was answered ${status}, not 401`);
    }),
  );
}

/** Of all floods together, and of the best and the worst one. */
function slowest(floods: readonly (readonly number[])[]) {
  const each = floods.map(p99);
  return { figure: p99(floods.flat()), spread: [Math.min(...each), Math.max(...each)] as const };
}

function p99(tookMs: readonly number[]): number {
  return tookMs.toSorted((a, b) => a - b)[Math.ceil(0.99 * tookMs.length) - 1]!;
}

function prepareGrants(folder: PreparedFolder) {
  return prepare(folder, async ({ identity, oauth, store }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const client = await addClient({ oauth }, tenantId);
    return store.transaction(async (tx) => {
      const refreshTokens: string[] = [];
      for (const userId of await addUsers(tx, tenantId, grants)) {
        refreshTokens.push((await addGrant(tx, client, userId)).refreshToken);
      }
      return { client, refreshTokens };
    });
  });
}
