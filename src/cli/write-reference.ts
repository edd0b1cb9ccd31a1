import { writeFileSync } from "node:fs";
import { describeProgram } from "./program.ts";
import { commandLineReference, programToDescribe } from "./reference.ts";

// Run after a change to a command: bin/breezeway --run src/cli/write-reference.ts
const file = new URL("../../docs/command-line.md", import.meta.url);
writeFileSync(file, commandLineReference(programToDescribe(describeProgram)));
