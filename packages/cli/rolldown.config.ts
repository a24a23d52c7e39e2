import { defineConfig } from 'rolldown';

/** One file without dependencies: whoever calls an API does not want a server and its packages. */
export default defineConfig({
  input: 'main.ts',
  platform: 'node',
  logLevel: 'warn',
  output: {
    file: 'dist/porter.js',
    cleanDir: true,
    codeSplitting: false,
    // Names stay as they are, so that a stack trace says something.
    minify: { compress: true, mangle: false, codegen: true },
  },
});
