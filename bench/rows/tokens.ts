import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuPerRequest, inMicroseconds, ratios, rounds, summary } from "../comparison.ts";
import { addClient, addCode, addGrant, tokenRequests } from "../granted-client.ts";
import { Load } from "../load.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { addUsers } from "../users.ts";

/** Requests in one round. Each grant is refreshed once per round, so from the second round on each token has a predecessor. */
const requests = 1_000;
const echoedRequests = 4_000;

/** The token endpoint: the exchange of a code, and a refresh, which assistants do all day for each user. */
export const tokens: Row = {
  name: "tokens",
  async measure(progress) {
    using folder = preparedFolder();
    progress(`making ${rounds * requests} codes and ${requests} grants`);
    const { client, codes, refreshTokens } = await prepareGrants(folder);
    const { exchange, refresh } = tokenRequests(client);
    await using service = await MeasuredProcess.service(folder.settings);
    using load = new Load(service);
    const answerFile = join(folder.path, "answer.json");
    writeFileSync(answerFile, await load.body(refresh(refreshTokens[0]!)));
    await using echo = await MeasuredProcess.reference("echo", answerFile);
    using echoLoad = new Load(echo);

    progress("exchanging and refreshing, in turns with the reference");
    const unusedCodes = codes.values();
    const echoed = { exchange: exchange(codes[0]!), refresh: refresh(refreshTokens[0]!) };
    const cpu = await cpuPerRequest({
      exchange: { load, requests, next: () => exchange(unusedCodes.next().value!) },
      "its echo": { load: echoLoad, requests: echoedRequests, next: () => echoed.exchange },
      refresh: {
        load,
        requests,
        next: () => refresh(refreshTokens.shift()!),
        onAnswer: ({ body }) => refreshTokens.push(JSON.parse(body.toString()).refresh_token),
      },
      "the refresh's echo": { load: echoLoad, requests: echoedRequests, next: () => echoed.refresh },
    });
    progress(inMicroseconds(cpu));
    return [
      result("CPU of the exchange of a code", ratios(cpu.exchange, cpu["its echo"]), 4.5),
      result("CPU of a refresh", ratios(cpu.refresh, cpu["the refresh's echo"]), 5.5),
    ];
  },
};

function prepareGrants(folder: PreparedFolder) {
  return prepare(folder, async ({ identity, oauth, store }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const client = await addClient({ oauth }, tenantId);
    return store.transaction(async (tx) => {
      const codes: string[] = [];
      const refreshTokens: string[] = [];
      const users = await addUsers(tx, tenantId, rounds * requests);
      for (const userId of users) codes.push(await addCode(tx, client, userId));
      for (const userId of users.slice(0, requests)) {
        refreshTokens.push((await addGrant(tx, client, userId)).refreshToken);
      }
      return { client, codes, refreshTokens };
    });
  });
}

function result(what: string, figures: readonly number[], atMost: number): Result {
  const reference = "node:http that receives and sends as many bytes";
  return { what, reference, ...summary(figures), unit: "x", bar: { atMost } };
}
