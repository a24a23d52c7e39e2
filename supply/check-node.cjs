const { existsSync } = require('node:fs');
const { join } = require('node:path');

// npm writes this file when it has installed every package.
if (!existsSync(join(__dirname, '../node_modules/.package-lock.json'))) {
  console.error('The packages of Porter are not installed. Run npm ci first, then start Porter again.');
  process.exit(1);
}
// Where npm brings no Node along (it does on Linux), it is the user's own, and an older one fails with words that help nobody.
const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  console.error(
    `Porter needs Node 24 or later, and this is ${process.version}: install it from https://nodejs.org, then start Porter again.`,
  );
  process.exit(1);
}
