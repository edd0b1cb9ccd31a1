import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { auth } from "@googleapis/homegraph";
import { importPKCS8, SignJWT } from "jose";
import { type Google, startGoogle } from "../../simulator/google-device-access/simulator.ts";

const redirectUri = "https://breezeway.example/callback";
const deviceScope = "https://www.googleapis.com/auth/sdm.service";
const setHeat = "sdm.devices.commands.ThermostatTemperatureSetpoint.SetHeat";
const setpointTrait = "sdm.devices.traits.ThermostatTemperatureSetpoint";

describe("Google's own REST client with the simulated Google", () => {
  it("gets a consent, lists the devices, renews its token and commands a thermostat", async (t) => {
    const { google, account, person } = await startedWorld(t);
    const { tokens } = await person.getToken(await consent(google, account.userId));
    assert.match(tokens.refresh_token ?? "", /^1\/\//);
    person.setCredentials(tokens);

    const project = `${google.url}/v1/enterprises/${google.projectId}`;
    const listed = await person.request<{ devices: Listed[] }>({ url: `${project}/devices` });
    assert.deepEqual(
      listed.data.devices.map(({ name }) => name),
      [...account.devices.keys()],
    );

    google.tokens.expireAccess();
    const heated = listed.data.devices.find(({ traits }) => traits[setpointTrait]?.heatCelsius !== undefined)!;
    const command = { command: setHeat, params: { heatCelsius: 21.5 } };
    const url = `${google.url}/v1/${heated.name}`;
    const taken = await person.request({ url: `${url}:executeCommand`, method: "POST", data: command });
    assert.deepEqual(taken.data, {});
    assert.equal(google.tokens.renewals, 1, "the client renewed the token that had expired");
    assert.equal((await person.request<Listed>({ url })).data.traits[setpointTrait]!.heatCelsius, 21.5);

    const tooHot = { command: setHeat, params: { heatCelsius: 99 } };
    const refused = person.request({ url: `${url}:executeCommand`, method: "POST", data: tooHot });
    await assert.rejects(refused, { status: 400 });
    google.tokens.revokeAll(account);
    await assert.rejects(person.request({ url }), { status: 400 }, "the token can't be renewed any more");
  });

  it("pulls a change, gets it again until it acknowledges, and then never again", async (t) => {
    const { google, account, person } = await startedWorld(t);
    person.setCredentials((await person.getToken(await consent(google, account.userId))).tokens);
    await person.request({ url: `${google.url}/v1/enterprises/${google.projectId}/devices` });
    const service = await serviceClient(google);
    const subscription = `${google.url}/v1/projects/hearth-hollow/subscriptions/breezeway`;
    const call = async (verb: string, data: object) =>
      (await service.request<Pulled>({ url: `${subscription}:${verb}`, method: "POST", data })).data;
    const pull = () => call("pull", { maxMessages: 10 });

    google.playScene(account, "cold");
    const { receivedMessages: [first] = [] } = await pull();
    const event = JSON.parse(Buffer.from(first!.message.data, "base64").toString());
    assert.equal(event.userId, account.userId);
    assert.ok(account.devices.has(event.resourceUpdate.name), "the event names the device");
    assert.deepEqual(await call("modifyAckDeadline", { ackIds: [first!.ackId], ackDeadlineSeconds: 0 }), {});
    const { receivedMessages: again = [] } = await pull();
    assert.ok(again.some(({ message }) => message.messageId === first!.message.messageId));
    assert.deepEqual(await call("acknowledge", { ackIds: again.map(({ ackId }) => ackId) }), {});
    google.subscription.holdMs = 0;
    const ids = new Set(again.map(({ message }) => message.messageId));
    const { receivedMessages: left = [] } = await pull();
    assert.deepEqual(
      left.filter(({ message }) => ids.has(message.messageId)),
      [],
    );
    google.tokens.expireServiceTokens();
    await assert.rejects(pull(), { status: 401 });
  });
});

interface Listed {
  readonly name: string;
  readonly traits: Readonly<Record<string, { readonly heatCelsius?: number }>>;
}

interface Pulled {
  readonly receivedMessages?: readonly {
    readonly ackId: string;
    readonly message: { readonly messageId: string; readonly data: string };
  }[];
}

async function startedWorld(t: TestContext) {
  const google = await startGoogle();
  t.after(() => google.stop());
  const account = google.addAccount("Ada");
  const { clientId, clientSecret, tokenUrl } = google.settings("unused.json");
  const endpoints = { oauth2TokenUrl: tokenUrl! };
  const person = new auth.OAuth2({
    clientId: clientId!,
    clientSecret: clientSecret!,
    redirectUri,
    endpoints,
    forceRefreshOnFailure: true,
  });
  return { google, account, person };
}

/** The person shares every device. Returns the code that comes back. */
async function consent(google: Google, userId: string): Promise<string> {
  const { authUrl, projectId, clientId } = google.settings("unused.json");
  const url = `${authUrl}/${projectId}/auth`;
  const page = new URLSearchParams({ client_id: clientId!, redirect_uri: redirectUri, response_type: "code" });
  page.set("scope", deviceScope);
  assert.equal((await fetch(`${url}?${page}`)).status, 200);
  const form = new URLSearchParams({ client_id: clientId!, redirect_uri: redirectUri });
  form.set("account", userId);
  form.set("decision", "allow");
  for (const name of google.accounts.get(userId)!.devices.keys()) form.append("device", name);
  const answer = await fetch(url, { method: "POST", body: form, redirect: "manual" });
  return new URL(answer.headers.get("location")!).searchParams.get("code")!;
}

/** A client with a token of the service account. */
async function serviceClient(google: Google) {
  const { client_email, private_key, private_key_id, token_uri } = JSON.parse(google.serviceAccountKey());
  const assertion = await new SignJWT({ scope: "https://www.googleapis.com/auth/pubsub" })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: private_key_id })
    .setIssuer(client_email)
    .setAudience(token_uri)
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(await importPKCS8(private_key, "RS256"));
  const grant = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
  const client = new auth.OAuth2();
  const { data } = await client.transporter.request<{ access_token: string }>({
    url: token_uri,
    method: "POST",
    data: new URLSearchParams(grant),
  });
  client.setCredentials({ access_token: data.access_token });
  return client;
}
