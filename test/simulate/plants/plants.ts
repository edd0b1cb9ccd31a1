import { alertPlants } from "./alerts.ts";
import { assistantPlants } from "./assistants.ts";
import { commitPlants } from "./commit.ts";
import { credentialPlants } from "./credentials.ts";
import { eventPlants } from "./events.ts";
import { fanPlants } from "./fans.ts";
import { groupPlants } from "./groups.ts";
import { hostilePlants } from "./hostile.ts";
import { linkingPlants } from "./linking.ts";
import { linkPlants } from "./links.ts";
import { modelPlants } from "./model.ts";
import { otherEcosystemPlants } from "./other-ecosystems.ts";
import { ownThingPlants } from "./own-things.ts";
import type { Plant } from "./plant.ts";
import { statePlants } from "./states.ts";
import { thingAlertPlants } from "./thing-alerts.ts";
import { webhookPlants } from "./webhooks.ts";

/** The mistakes that the simulation must find. `npm run simulate -- --plant all` tries each of them. */
export const plants: readonly Plant[] = [
  ...commitPlants,
  ...groupPlants,
  ...statePlants,
  ...modelPlants,
  ...linkPlants,
  ...linkingPlants,
  ...credentialPlants,
  ...fanPlants,
  ...alertPlants,
  ...thingAlertPlants,
  ...eventPlants,
  ...webhookPlants,
  ...ownThingPlants,
  ...otherEcosystemPlants,
  ...assistantPlants,
  ...hostilePlants,
];
