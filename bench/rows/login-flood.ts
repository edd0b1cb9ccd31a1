import { setTimeout as sleep } from "node:timers/promises";
import { formOf, ScriptedBrowser } from "../../test/oauth/scripted-browser.ts";
import { Connection } from "../connection.ts";
import { addClient, addGrant, type GrantedClient, tokenRequests } from "../granted-client.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import { RefreshLoad } from "../refresh-load.ts";
import { formRequest } from "../requests.ts";
import type { Row } from "../row.ts";
import { addUsers } from "../users.ts";

const floods = 5;
const logins = 200;
const calmMs = 3_000;
/** More grants than refreshes at a time, so that no token is used twice at once. */
const grants = 1_000;

/** Passwords are slow to check on purpose. A flood of sign-ins must not delay clients that have a token. */
export const loginFlood: Row = {
  name: "login-flood",
  async measure(progress) {
    using folder = preparedFolder({ BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" });
    const { client, refreshTokens } = await prepareGrants(folder);
    await using service = await MeasuredProcess.service(folder.settings);
    using refreshes = new RefreshLoad(service.url, tokenRequests(client).refresh, refreshTokens);
    progress(`${floods} floods of ${logins} logins, with a calm before each`);
    const calm: (readonly number[])[] = [];
    const flooded: (readonly number[])[] = [];
    // Warm-up: the first calm period is not measured.
    await refreshes.during(sleep(calmMs));
    for (let flood = 1; flood <= floods; flood++) {
      calm.push(await refreshes.during(sleep(calmMs)));
      flooded.push(await refreshes.during(failSignIns(service.url, client, flood)));
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

/** Concurrent sign-ins with wrong passwords. Each has its own name and address, so that no failure limit applies. */
async function failSignIns(url: string, client: GrantedClient, flood: number): Promise<void> {
  const browser = new ScriptedBrowser(() => url);
  const query = new URLSearchParams({ response_type: "code", client_id: client.credentials.client_id, state: "s" });
  const { action, fields } = formOf(await browser.get(`/oauth2/authorize?${query}`));
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const numbers = Array.from({ length: logins }, (_, number) => number);
  await Promise.all(
    numbers.map(async (number) => {
      using connection = await Connection.to(url);
      const form = { ...fields, username: `nobody-${flood}-${number}`, password: "wrong password" };
      const headers = { cookie, "x-forwarded-for": `10.0.${flood}.${number}` };
      const { status } = await connection.send(formRequest(new URL(action, url).pathname, form, headers));
      if (status !== 401) throw new Error(`a login was answered ${status}, not 401`);
    }),
  );
}

/** p99 over all floods, and of the best and the worst flood. */
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
