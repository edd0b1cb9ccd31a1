import { summaryOf } from "../client/answer-summary.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const alive: Row = {
  name: "alive",
  group: "The service itself",
  title: "The service is alive",
  proves: "/livez answers 200.",
  isEssential: false,
  needs: [],
  after: [],
  async run({ deployment }) {
    const answer = await deployment.call("/livez");
    ensure(answer.status === 200, () => ({
      seen: `GET /livez was ${summaryOf(answer)}, not 200.`,
      side: "between",
      next: "Check that --url is the service's {base_url}, and that a proxy in front of it passes /livez on.",
    }));
    return { seen: "GET /livez answered 200." };
  },
};
