import { summaryOf } from "../client/answer-summary.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const ready: Row = {
  name: "ready",
  group: "The service itself",
  title: "The service is ready",
  proves: "/readyz answers 200 and names its checks, all of them good.",
  isEssential: false,
  needs: [],
  after: ["alive"],
  async run({ deployment }) {
    const answer = await deployment.call("/readyz");
    const checks = Object.entries<{ ok?: boolean; reason?: string }>(answer.json?.checks ?? {});
    const failed = checks
      .filter(([, { ok }]) => ok !== true)
      .map(([name, { reason }]) => `${name} (${reason ?? "no reason"})`);
    ensure(answer.status === 200 && failed.length === 0 && checks.length > 0, () => ({
      seen: `GET /readyz was ${summaryOf(answer)}; ${failed.length > 0 ? `not good: ${failed.join(", ")}` : "it names no failed check"}.`,
      side: "service",
      next:
        failed.length > 0
          ? "Repair what the failed checks name; the service's log has details."
          : "Call /readyz of the service directly.",
    }));
    return { seen: `Ready: ${checks.map(([name]) => name).join(", ")}.` };
  },
};
