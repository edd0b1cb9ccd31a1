import { missingPostgres } from "../set-up/postgres.ts";
import { postgresHarness } from "./store/postgres-harness.ts";
import { sqliteHarness } from "./store/sqlite-harness.ts";
import { describeWebhooks } from "./webhooks.contract.ts";

const skip = missingPostgres();

describeWebhooks("webhooks on SQLite", sqliteHarness);
describeWebhooks("webhooks on PostgreSQL", postgresHarness, skip === undefined ? {} : { skip });
