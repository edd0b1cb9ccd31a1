import type { TestContext } from "node:test";
import { startChild } from "../stories/child-service.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";

/** A linked account, followed by a service in a child process. */
export async function linkedHouse(t: TestContext, database: "sqlite" | "postgres" = "sqlite") {
  const house = await killableDeployment(t, database);
  const { token } = house.simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
  const service = await startChild("serve", house.environment);
  t.after(() => service.process.kill("SIGKILL"));
  house.baseUrl = service.baseUrl;
  await house.signIn();
  await house.client.federate("POST", token);
  return { house, service };
}
