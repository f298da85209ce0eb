import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { FUNCTIONS } from '../shared/catalog.ts'
import { PROVIDER_FILES } from '../shared/providers/provider.ts'
import { CALL_FILES } from '../shared/steps/native-calls.ts'
import { buildConsole, reasonToBuild } from './build-console.mjs'
import { CONSOLE_LIMIT_BYTES, consoleSize } from './console-size.ts'

/** Programs that are started as processes of their own, and files that are imported by a name put together. */
const ENTRIES: readonly string[] = [
  'clients/cli/main.ts',
  'infra/local/main.ts',
  'infra/local/check-gates.ts',
  'infra/local/describe-steps.ts',
  'infra/modules/gates-worker.ts',
  'functions/isolate/worker.ts',
  'functions/steps/run-step.ts',
  'clients/sdk/sluice.ts',
  ...FUNCTIONS.map(({ file }) => `functions/${file}`),
  ...Object.values(PROVIDER_FILES).map(([file]) => `functions/${file}`),
  ...Object.values(CALL_FILES).map((file) => `functions/${file}`),
]

/** Where the bundled code goes, from the root of the package. Flat: code finds the root from every file of it. */
const FOLDER = 'dist/app'

/**
 * Bundles the CLI and the local place as JavaScript (Node strips no types below node_modules). What two entries need is
 * one file they share, so that there is one of every class. Packages stay outside: npm installs them. Answers bytes.
 */
async function bundleApp(root: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((file) => ({ in: file, out: flatName(file) })),
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [placesOfSources(root)],
  })
  const outputs = Object.values(metafile.outputs)
  return { files: outputs.length, bytes: outputs.reduce((total, { bytes }) => total + bytes, 0) }
}

/** `infra/local/main.ts` -> `infra.local.main` */
function flatName(file: string): string {
  return file.replace(/\.ts$/, '').replaceAll('/', '.')
}

/**
 * Sources name files beside them: data (`../../dags`) and programs (`./worker.ts`). In the bundle such an address still
 * means the source's own place in the package, and one that ends in .ts the bundle of that source.
 */
function placesOfSources(root: string): Plugin {
  return {
    name: 'places-of-sources',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^sluice:package$/ }, ({ path }) => ({ path, namespace: 'sluice' }))
      onLoad({ filter: /.*/, namespace: 'sluice' }, () => ({ contents: PACKAGE, loader: 'js' }))
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!/\bimport\.meta\./.test(text)) return null
        const source = JSON.stringify(relative(root, path).split(sep).join('/'))
        const contents = text
          .replace(/\bnew URL\(/g, 'packageUrl(')
          .replace(/\bimport\.meta\.url\b/g, `sourceUrl(${source})`)
          .replace(/\bimport\.meta\.dirname\b/g, `sourceFolder(${source})`)
        assert.doesNotMatch(contents, /\bimport\.meta\./, `${path}: only import.meta.url and .dirname are bundled`)
        return {
          contents: `import { packageUrl, sourceFolder, sourceUrl } from 'sluice:package'\n${contents}`,
          loader: 'ts',
        }
      })
    },
  }
}

/** The module those sources get. It runs in FOLDER. */
const PACKAGE = `
  import { dirname } from 'node:path'
  import { fileURLToPath } from 'node:url'
  const root = new URL(${JSON.stringify(`${relative(join('/', FOLDER), '/')}/`)}, import.meta.url).href
  export const sourceUrl = (source) => root + source
  export const sourceFolder = (source) => dirname(fileURLToPath(sourceUrl(source)))
  export function packageUrl(path, base) {
    const url = new URL(path, base)
    if (!url.href.startsWith(root) || !url.href.endsWith('.ts')) return url
    const name = url.href.slice(root.length, -'.ts'.length).replaceAll('/', '.')
    return new URL(${JSON.stringify(`${FOLDER}/`)} + name + '.js', root)
  }
`

/** `npm run build`: all of dist/, which `npm pack` takes: the console, and the CLI with the local place as JavaScript. */
const root = dirname(dirname(fileURLToPath(import.meta.url)))

async function buildAll(): Promise<void> {
  if (reasonToBuild(root) !== undefined && !buildConsole(root)) return fail('The console could not be built.')
  const { bytes, gzip_bytes, files } = consoleSize(join(root, 'dist', 'console'))
  for (const file of files) say(`  ${kb(file.gzip_bytes)} gzipped  ${kb(file.bytes)}  ${file.name}`)
  say(
    `dist/console: ${kb(gzip_bytes)} gzipped of ${kb(CONSOLE_LIMIT_BYTES)} allowed, ${kb(bytes)} in ${files.length} files`,
  )
  if (gzip_bytes > CONSOLE_LIMIT_BYTES) return fail('The console has become too large for a first look.')
  rmSync(join(root, 'dist', 'app'), { recursive: true, force: true })
  const app = await bundleApp(root)
  say(`dist/app: ${kb(app.bytes)} in ${app.files} files. \`npm pack\` makes the package.`)
}

function kb(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1).padStart(7)} KB`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function fail(why: string): void {
  process.stderr.write(`${why}\n`)
  process.exitCode = 1
}

await buildAll()
