import { alertPlants } from "./plants/alerts.ts";
import { assistantPlants } from "./plants/assistants.ts";
import { commitPlants } from "./plants/commit.ts";
import { credentialPlants } from "./plants/credentials.ts";
import { eventPlants } from "./plants/events.ts";
import { fanPlants } from "./plants/fans.ts";
import { groupPlants } from "./plants/groups.ts";
import { linkingPlants } from "./plants/linking.ts";
import { linkPlants } from "./plants/links.ts";
import { modelPlants } from "./plants/model.ts";
import { otherEcosystemPlants } from "./plants/other-ecosystems.ts";
import { ownThingPlants } from "./plants/own-things.ts";
import type { Plant } from "./plants/plant.ts";
import { statePlants } from "./plants/states.ts";
import { thingAlertPlants } from "./plants/thing-alerts.ts";
import { webhookPlants } from "./plants/webhooks.ts";

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
];
