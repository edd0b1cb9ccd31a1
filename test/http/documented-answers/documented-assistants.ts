import type { DocumentedWorld } from "./documented-world.ts";

/** A directive with a token of nobody is answered with an event, too. */
export async function useAlexa({ call }: DocumentedWorld): Promise<void> {
  await call("answerDirective", 400, { json: {} });
  const header = { namespace: "Alexa.Discovery", name: "Discover", payloadVersion: "3", messageId: "1" };
  const payload = { scope: { type: "BearerToken", token: "none" } };
  await call("answerDirective", 200, { json: { directive: { header, payload } } });
}

/** The client of an outlet, which Google uses. */
export async function useGoogleHome({ call, addClient, code, parts, baseUrl }: DocumentedWorld): Promise<void> {
  const client = await addClient("user");
  const granted = await code(client.client_id);
  const form = { ...client, grant_type: "authorization_code", code: granted };
  const { access_token: bearer } = await call("issueToken", 200, { form });
  const added = await parts.administration.run("outlet add", {
    tenant: "Story",
    kind: "google-home",
    settings: {
      "project-id": "hearth-hollow",
      "service-account": JSON.stringify({ client_email: "a@b.example", private_key: "-----BEGIN PRIVATE KEY-----" }),
      "home-graph-url": baseUrl,
    },
  });
  const { outlet } = added as { outlet: string };
  await parts.store.transaction(async (tx) => {
    const row = (await tx.assistantOutlets.byId(outlet))!;
    await tx.assistantOutlets.remove(row);
    await tx.assistantOutlets.add({ ...row, clientId: client.client_id });
  });
  await call("fulfilGoogleHome", 400, { bearer, json: {} });
  const json = { requestId: "1", inputs: [{ intent: "action.devices.DISCONNECT" }] };
  await call("fulfilGoogleHome", 200, { bearer, json });
}
