import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alexa } from "../../src/assistants/alexa/assistant.ts";
import type { CallMaker } from "../../src/assistants/maker-call.ts";
import { type SendingParts, sendDue } from "../../src/assistants/reporter/sending.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { settings } from "./alexa/settings.ts";
import { changedMs, onOff, thing } from "./alexa/things.ts";
import { linked, stillGoing } from "./made-assistant.ts";

describe("a credential that is renewed during a report", () => {
  it("is used by the next message, so that a refresh token is used once", () =>
    onStore(sqliteHarness, async (store) => {
      const { key, parts, runtime, home, grant, dueNow } = await linked(store);
      const renewals: string[] = [];
      const tokens = new Set<string>();
      const call = (async ({ form, token }) => {
        const answer = (status: number, document: object) => ({ isAnswered: true, status, document, headers: {} });
        if (!form) {
          tokens.add(token!);
          return answer(202, {});
        }
        renewals.push(form.refresh_token!);
        if (form.refresh_token !== `refresh ${renewals.length - 1}`) return answer(400, { error: "invalid_grant" });
        const [access_token, refresh_token] = [`access ${renewals.length}`, `refresh ${renewals.length}`];
        return answer(200, { access_token, refresh_token, expires_in: 3_600 });
      }) as CallMaker;
      // More states than one message holds.
      const ids = Array.from({ length: 30 }, (_, number) => `t_${number}`);
      const things = new Map(
        ids.map((thingId) => [thingId, { ...thing("light", onOff(true)), thingId, deviceId: home.devices[0]! }]),
      );
      const expired = { accessToken: "access 0", refreshToken: "refresh 0", expiresMs: 0 };
      await store.transaction(async (tx) => {
        await tx.assistantMarks.addAll(
          ids.map((thingId) => ({ ...key, thingId, sinceMs: 0, stateMs: 1 })),
          changedMs,
        );
        const given = { sealedCredential: JSON.stringify(expired), region: "na" };
        await tx.assistantGrants.put({ ...key, clientId: "client", agentUserId: "agent", ...given });
        await tx.assistantGrants.setOmitted(key, []);
      });
      await dueNow();
      const assistant = alexa({ call, runtime, newUuid: () => "m" });
      const outlets = { find: async () => ({ assistant, settings }) };
      const homes = { all: async () => [...things.values()], some: async () => things };
      await sendDue({ ...parts, outlets, homes } as unknown as SendingParts, key, stillGoing);
      assert.deepEqual([renewals, [...tokens]], [["refresh 0"], ["access 1"]]);
      assert.equal(JSON.parse((await grant())!.sealedCredential!).refreshToken, "refresh 1");
    }));
});
