import type { OwnCommand } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Noun } from "../noun.ts";

const doctor: OwnCommand = {
  name: "doctor",
  meaning: "check this machine for problems, and say what to do about each",
  examples: ["doctor", "doctor --data /var/lib/breezeway --json"],
  async run(call) {
    const { examine } = await import("../machine-checks.ts");
    const { print } = call;
    const findings = await print.during("checking", examine(call));
    const isWell = findings.every(({ state }) => state !== "fail");
    const colours = { ok: print.style.green, warn: print.style.yellow, fail: print.style.red };
    print.data({ ok: isWell, checks: findings }, () =>
      findings
        .map(({ check, state, words, next }) => {
          const line = `${colours[state](state.padEnd(4))}  ${check.padEnd(12)}  ${words}`;
          return next ? `${line}\n                    → ${next}` : line;
        })
        .join("\n"),
    );
    return isWell ? exitCodes.ok : exitCodes.failed;
  },
};

export const doctorNoun: Noun = { name: "doctor", meaning: doctor.meaning, commands: [doctor] };
