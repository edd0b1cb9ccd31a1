import type { Service } from "../../src/service/service.ts";
import type { DemoAssistants } from "../assistants/assistants.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";
import type { StepProgress } from "./step-progress.ts";

/** The parts of the running demo that its console pages use. They exist once the house is prepared. */
export interface OpenDemo {
  readonly service: Service;
  readonly house: House;
  readonly assistants: DemoAssistants;
  readonly ecosystem: DemoEcosystem;
  readonly stepProgress: StepProgress;
}
