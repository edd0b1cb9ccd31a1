import { createHmac } from "node:crypto";
import { summaryOf } from "../client/answer-summary.ts";
import { writeAttributes } from "../client/linked-account.ts";
import { startReceiver } from "../client/receiver.ts";
import { ensure, NotRun } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.webhook";

export const webhooks: Row = {
  name: "webhooks",
  group: "Events",
  title: "A webhook is called and signed",
  proves: "A change is posted to a registered address, with a signature that only the owner of the secret can make.",
  isEssential: false,
  needs: ["device"],
  after: ["write"],
  async run(context) {
    const { deployment, shared, input, secrets } = context;
    const { accessToken } = shared.tokens!;
    const deviceId = input.deviceId!;
    const receiver = await startReceiver();
    try {
      const registration = { url: receiver.url, deviceIds: [deviceId], attributes: [name] };
      const created = await deployment.v3(accessToken, "webhooks", "POST", registration);
      if (created.status === 400) {
        throw new NotRun(
          "The service delivers to public https addresses only, and verify listens on this machine.",
          "On a deployment for tests, on the same machine: set BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS=true there.",
        );
      }
      const secret = secrets.keep(String(created.json?.secret ?? ""));
      ensure(created.status === 201 && secret.startsWith("whsec_"), () => ({
        seen: `POST /v3/webhooks was ${summaryOf(created)}, not 201 with a secret.`,
        side: "service",
        next: "Look for the answer's request id in the service's log.",
      }));
      const remove = () => deployment.v3(accessToken, `webhooks/${created.json.webhookId}`, "DELETE");
      context.afterRow(remove);
      context.afterRow(() => writeAttributes(context, deviceId, { [name]: null }));
      await writeAttributes(context, deviceId, { [name]: "posted" });
      const { headers, body } = await context.eventually(
        async () => receiver.received[0],
        () => ({
          seen: "A change was not posted to the webhook within 10 seconds.",
          side: "service",
          next: `GET /v3/webhooks/${created.json.webhookId}/deliveries shows the attempts; verify must be reachable from the service.`,
        }),
      );
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      const signature = createHmac("sha256", key).update(signed).digest("base64");
      ensure(String(headers["webhook-signature"]).split(" ").includes(`v1,${signature}`), () => ({
        seen: "The webhook's signature does not match its body.",
        side: "between",
        next: "No proxy may change the body of a delivery; receivers must refuse a wrong signature.",
      }));
      await remove();
      return { seen: "The change was posted, with the right signature." };
    } finally {
      await receiver.stop();
    }
  },
};
