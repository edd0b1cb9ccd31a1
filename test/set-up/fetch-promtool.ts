import { missingPromtool } from "./promtool.ts";

/**
 * A program that fetches promtool while tests run, because few of them need it. A test file that needs promtool earlier
 * waits for it. If it can't be had, that file fails or is skipped, with the reason.
 */
process.env.CI = "false";
missingPromtool();
