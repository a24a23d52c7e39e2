// Where npm brings no Node along (it does on Linux), it is the user's own, and an older one fails with words that help nobody.
const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  console.error(
    `Porter needs Node 24 or later, and this is ${process.version}: install it from https://nodejs.org, then start Porter again.`,
  );
  process.exit(1);
}
