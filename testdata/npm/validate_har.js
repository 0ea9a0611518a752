// Reads a HAR file from standard input and says what the validator has against it.
const { har } = require("har-validator");
let text = "";
process.stdin.setEncoding("utf8").on("data", (piece) => (text += piece)).on("end", () => {
  har(JSON.parse(text)).catch((e) => {
    console.error(JSON.stringify(e.errors, null, 1));
    process.exitCode = 1;
  });
});
