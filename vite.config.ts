import { defineConfig } from 'vite'

/** The place whose API `npm run dev:console` shows. It answers its own page only, so that is what it is told of us. */
const target = process.env.SLUICE_URL ?? 'http://127.0.0.1:4040'

/** The console as a folder of static files. */
export default defineConfig({
  root: 'clients/console',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: '../../dist/console', emptyOutDir: true, target: 'es2022' },
  // A pattern: /api.ts is a file of the page.
  server: {
    host: '127.0.0.1',
    port: 4041,
    proxy: { '^/api/': { target, changeOrigin: true, headers: { origin: target } } },
  },
})
