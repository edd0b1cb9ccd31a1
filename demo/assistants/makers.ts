import { type Amazon, startAmazon } from "../../simulator/alexa/simulator.ts";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";

/** The makers of the simulated assistants: Amazon with its event gateways, and Google with its Home Graph. */
export interface Makers {
  readonly amazon: Amazon;
  readonly graph: HomeGraph;
  stop(): Promise<void>;
}

/** The page keeps what it shows by itself. */
const keptMessages = 10;

/** Starts both on loopback, each on a free port. */
export async function startMakers(): Promise<Makers> {
  const amazon = await startAmazon({ keptEvents: keptMessages });
  const graph = await HomeGraph.start(0, keptMessages);
  return {
    amazon,
    graph,
    async stop() {
      await amazon.stop();
      await graph.stop();
    },
  };
}
