import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { auth, homegraph } from "@googleapis/homegraph";
import { jwtVerify } from "jose";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import type { ReceivedCall } from "../../simulator/google-home/home-graph-answers.ts";
import { HomeGraph as ServiceClient } from "../../src/assistants/google-home/home-graph.ts";
import { readGoogleSettings } from "../../src/assistants/google-home/settings.ts";
import { jsonCaller } from "../../src/ecosystems/kit/json-call.ts";
import { readJsonHere } from "../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { settingsFor } from "./google-world.ts";

const agentUserId = "a_0123456789abcdefghijkl";
const [requestId, eventId] = ["ff36a3cc-ec34-11e6-b1a0-64510650abcf", "1b7f6d5e-0000-4000-8000-000000000001"];
const thermostat = { id: "t_1", type: "action.devices.types.THERMOSTAT", name: { name: "Hall" } };

/** A simulated Home Graph, and a token that the service was given there. */
async function tokenOfService(t: TestContext) {
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const runtime = manualRuntime();
  const issued = await new ServiceClient(jsonCaller(readJsonHere), runtime).newToken(
    readGoogleSettings(settingsFor(graph)),
    t.signal,
  );
  assert.ok("token" in issued, JSON.stringify(issued));
  return { graph, runtime, token: issued.token };
}

describe("the simulated Home Graph", () => {
  it("answers Google's own client as Google does", async (t) => {
    const { graph, token } = await tokenOfService(t);
    const credentials = new auth.OAuth2();
    credentials.setCredentials({ access_token: token });
    const { devices, agentUsers } = homegraph({ version: "v1", rootUrl: graph.url, auth: credentials });
    const user = graph.link(agentUserId);
    user.devices = new Map([[thermostat.id, thermostat]]);
    let syncs = 0;
    user.onSyncRequested = () => {
      syncs += 1;
    };
    const state = { online: true, thermostatMode: "heat" };
    const alarm = { SensorState: { priority: 0, name: "SmokeLevel", currentSensorState: "smoke detected" } };
    const payload = { devices: { states: { t_1: state }, notifications: { t_1: alarm } } };

    const reported = await devices.reportStateAndNotification({
      requestBody: { requestId, eventId, agentUserId, payload },
    });
    assert.deepEqual(reported.data, { requestId });
    assert.deepEqual(user.notifications, [{ id: "t_1", notification: alarm }]);
    const inputs = [{ payload: { devices: [{ id: "t_1" }] } }];
    const queried = await devices.query({ requestBody: { requestId, agentUserId, inputs } });
    assert.deepEqual(queried.data, { requestId, payload: { devices: { t_1: state } } });
    const synced = await devices.sync({ requestBody: { requestId, agentUserId } });
    assert.deepEqual(synced.data, { requestId, payload: { agentUserId, devices: [thermostat] } });
    assert.deepEqual((await devices.requestSync({ requestBody: { agentUserId, async: true } })).data, {});
    assert.equal(syncs, 1);

    const unknown = { ...payload, devices: { states: { t_2: state } } };
    const ofUnknown = devices.reportStateAndNotification({ requestBody: { requestId, agentUserId, payload: unknown } });
    await assert.rejects(ofUnknown, { status: 404 });
    const ended = await agentUsers.delete({ agentUserId: `agentUsers/${agentUserId}`, requestId });
    assert.deepEqual(ended.data, {});
    await assert.rejects(devices.requestSync({ requestBody: { agentUserId, async: true } }), { status: 404 });
    credentials.setCredentials({ access_token: "ya29.another" });
    await assert.rejects(devices.sync({ requestBody: { requestId, agentUserId } }), { status: 401 });
  });
});

describe("the service's request for a token of Google", () => {
  it("is signed by the service account, for the token endpoint and one hour", async (t) => {
    const { graph, runtime } = await tokenOfService(t);
    const [{ body }] = graph.callsOf("token") as readonly [ReceivedCall];
    assert.equal(body.grant_type, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    const { private_key, private_key_id, client_email, token_uri } = JSON.parse(graph.serviceAccountFile);
    const { payload, protectedHeader } = await jwtVerify(body.assertion, createPublicKey(private_key), {
      algorithms: ["RS256"],
      currentDate: new Date(runtime.nowMs()),
    });
    assert.deepEqual(protectedHeader, { alg: "RS256", typ: "JWT", kid: private_key_id });
    const iat = Math.floor(runtime.nowMs() / 1_000);
    const scope = "https://www.googleapis.com/auth/homegraph";
    assert.deepEqual(payload, { iss: client_email, scope, aud: token_uri, iat, exp: iat + 3_600 });
  });
});
