import type { Service } from "../../src/service/service.ts";
import type { DemoAssistants } from "../assistants/assistants.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";
import type { StepProgress } from "./step-progress.ts";

/** The demo's house as its pages know it. */
export interface OpenDemo {
  readonly service: Service;
  readonly house: House;
  readonly assistants: DemoAssistants;
  readonly ecosystem: DemoEcosystem;
  readonly stepProgress: StepProgress;
}
