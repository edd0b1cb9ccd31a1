import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

// Passive: it never makes a writer or a reader wait.
const database = new DatabaseSync(workerData as string);
parentPort?.on("message", (message: "checkpoint" | "stop") => {
  if (message === "checkpoint") database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  else {
    database.close();
    process.exit();
  }
});
