import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

// Runs checkpoints for checkpointer.ts. PASSIVE: no writer or reader ever waits for a checkpoint.
const database = new DatabaseSync(workerData as string);
parentPort?.on("message", (message: "checkpoint" | "stop") => {
  if (message === "checkpoint") database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  else {
    database.close();
    process.exit();
  }
});
