import type { Report } from "../../../../verify/report/report.ts";
import { reportText } from "../../../../verify/report/report-text.ts";
import { BadParameter, NotFound, NotRunning, OperatorForbidden } from "../../../model/errors.ts";
import { localName } from "../../../operators/operator.ts";
import type { AdminAct, AdminCommand, Answer } from "../../administration/admin-command.ts";
import type { Verification } from "../../administration/verifications.ts";
import { ago } from "../../devices/times.ts";
import { text } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { table } from "../../terminal/output.ts";

const start: AdminCommand = {
  name: "verification start",
  meaning: "let the running service verify itself in the background, over its public address; its report is stored",
  examples: ["verification start"],
  async act({ verifications, deployment, administer, operator }, _input, service) {
    if (!deployment) throw new OperatorForbidden();
    if (!service) {
      throw new NotRunning(
        "Only a running service verifies itself. Use the console or --service, or verify from here with: breezeway verify",
      );
    }
    const { baseUrl: url } = service;
    const { version, ecosystems } = deployment;
    const begun = { url, by: operator?.name ?? localName };
    const started = await verifications.start(begun, async (signal) => {
      // Loaded on demand, so that the service starts faster.
      const { verifyItself } = await import("./self-verification.ts");
      return verifyItself({ url, version, ecosystems, administer, signal });
    });
    return { answer: shown(started), changed: { detail: { verification: started.verificationId } } };
  },
  toText: ({ verificationId }) =>
    `The service verifies itself. See the report with: breezeway verification show ${verificationId}`,
};

const list: AdminCommand = {
  name: "verification list",
  meaning: "list the last ten verifications of this deployment, newest first",
  examples: ["verification list"],
  async act({ verifications }) {
    return { answer: { verifications: (await verifications.list()).map(shown) } };
  },
  toText({ verifications }, _typed, width) {
    if (verifications.length === 0) return "This deployment was not verified yet. Verify it with: breezeway verify";
    return table(
      ["STARTED", "GRADE", "RESULT", "BY", "ID"],
      (verifications as Answer[]).map(({ startedTime, grade, verdict, problem, by, verificationId }) => [
        ago(Date.parse(startedTime)),
        grade ?? "-",
        verdict ?? problem ?? "It runs.",
        by,
        verificationId,
      ]),
      width,
    );
  },
};

const show: AdminCommand = {
  name: "verification show",
  meaning: "show the report of a verification",
  examples: ["verification show 5f0c2d9a11be"],
  arguments: [{ name: "verification", meaning: "its id, from: breezeway verification list" }],
  options: (command) => command.option("--verification <id>", "the same, as an option"),
  async act({ verifications }, input) {
    const verificationId = text(input, "verification");
    const found = await verifications.find(verificationId);
    if (!found) {
      throw new NotFound(
        `There is no verification ${verificationId}; the last ten are stored. See them with: breezeway verification list`,
      );
    }
    return { answer: { ...shown(found), rows: found.rows } };
  },
  toText(answer: Answer, _typed, width = 100) {
    const { url, startedTime, by, problem, grade } = answer;
    const begun = `Started ${ago(Date.parse(startedTime))} by ${by}.`;
    if (grade !== null) return `${reportText(answer, { hasColour: false, width })}${begun}`;
    return `${url}\n${problem ?? "It runs."} ${begun}`;
  },
};

/** Stores the report of `breezeway verify`, which runs in a process of its own. */
export const keepVerification: AdminAct = {
  name: "verification keep",
  async act({ verifications, operator }, { report }) {
    if (!isReport(report))
      throw new BadParameter("report", "The report is not one of this version of breezeway verify.");
    const kept = await verifications.keep({ url: report.url, by: operator?.name ?? localName }, report);
    return { answer: shown(kept), changed: { detail: { verification: kept.verificationId } } };
  },
};

function isReport(value: unknown): value is Report {
  const { url, startedTime, grade, verdict, counts, rows } = (value ?? {}) as Partial<Report>;
  return (
    [url, startedTime, grade, verdict].every((one) => typeof one === "string") &&
    !Number.isNaN(Date.parse(startedTime!)) &&
    typeof counts === "object" &&
    Array.isArray(rows)
  );
}

function shown({ verificationId, url, by, startedMs, result, problem }: Verification) {
  const state = result ? "ended" : problem === undefined ? "running" : "failed";
  return {
    ...{ verificationId, url, by, state },
    startedTime: new Date(startedMs).toISOString(),
    grade: result?.grade ?? null,
    verdict: result?.verdict ?? null,
    counts: result?.counts ?? null,
    seconds: result?.seconds ?? null,
    version: result?.version ?? null,
    problem: problem ?? null,
  };
}

export const verification: Noun = {
  name: "verification",
  alias: "verifications",
  meaning: "stored reports of verify",
  commands: [start, list, show],
};
