// Shortens the pause that Uptime Kuma makes between the starts of two monitors (300 to 1,000 ms), so that all monitors
// are started within one interval. Loaded before its server in every start except the one that measures the restart; nothing
// else is changed.
const util = require(process.env.COMPARISON_PACKAGE + "/src/util");
const pause = Number(process.env.COMPARISON_PAUSE_MS);
const sleep = util.sleep;
let due = 0;
util.sleep = (ms) => {
    if (ms < 300 || ms > 1000) {
        return sleep(ms);
    }
    due = Math.max(due, Date.now() - 1000) + pause;
    return sleep(Math.max(0, due - Date.now()));
};
