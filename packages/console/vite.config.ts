import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The console as files for `/console/`. Nothing is fetched from elsewhere, and nothing is inlined: its CSP forbids both. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
