import { writeFileSync } from "node:fs";
import { mirrorDigests } from "./mirror-digest.ts";
import { recordingUrl } from "./recording.ts";

// Writes the recording again. Only for a change of what the virtual device is meant to show.
writeFileSync(recordingUrl, `${JSON.stringify(mirrorDigests(), null, 1)}\n`);
