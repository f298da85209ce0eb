import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { buildConsole, reasonToBuild } from './build-console.mjs'
import { CONSOLE_LIMIT_BYTES, consoleSize } from './console-size.ts'

/** What a project runs of us: each file of these becomes one of FOLDER under the same name. */
const SOURCES = '{shared,functions,infra,clients/cli,clients/sdk}/**/*.ts'

/** What a project imports: `clients/sdk/NAME.ts` and infra/aws/cdk.ts are `sluice/NAME` (`exports` of package.json), and have types. */
const ENTRIES = ['clients/sdk/*.ts', 'infra/aws/cdk.ts']

/** Where the JavaScript goes, from the root of the package; types stand beside it in the other. */
const FOLDER = 'dist/app'
const TYPES = 'dist/types'

/**
 * The sources as JavaScript (Node strips no types below node_modules), file by file: a deployment bundles its functions from
 * them as from the sources, so what it does not use stays out. Packages stay outside: npm installs them. Answers bytes.
 */
async function stripApp(root: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: globSync(SOURCES, { cwd: root }).filter((file) => !file.includes('node_modules')),
    outdir: FOLDER,
    outbase: '.',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [filesBeside(root)],
  })
  writeFileSync(join(root, FOLDER, PACKAGE_FILE), PACKAGE)
  const outputs = Object.values(metafile.outputs)
  return { files: outputs.length + 1, bytes: outputs.reduce((total, { bytes }) => total + bytes, 0) }
}

/**
 * Sources name files beside them: other sources, data (`../../dags`) and programs (`./worker.ts`). An import means the
 * JavaScript beside it; any other address still means the source's own place in the package, but one that ends in .ts,
 * which is the JavaScript of that source.
 */
function filesBeside(root: string): Plugin {
  return {
    name: 'files-beside',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^sluice:package$/ }, ({ importer }) => {
        const away = relative(dirname(importer), join(root, PACKAGE_FILE)).split(sep).join('/')
        return { path: away.startsWith('.') ? away : `./${away}`, external: true }
      })
      onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind }) => {
        return kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true }
      })
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!/\bimport\.meta\./.test(text)) return null
        const source = JSON.stringify(relative(root, path).split(sep).join('/'))
        const contents = text
          .replace(/\bnew URL\(/g, 'packageUrl(')
          .replace(/\bimport\.meta\.url\b/g, `sourceUrl(${source})`)
          .replace(/\bimport\.meta\.dirname\b/g, `sourceFolder(${source})`)
        assert.doesNotMatch(contents, /\bimport\.meta\./, `${path}: only import.meta.url and .dirname are understood`)
        return {
          contents: `import { packageUrl, sourceFolder, sourceUrl } from 'sluice:package'\n${contents}`,
          loader: 'ts',
        }
      })
    },
  }
}

/** The module those sources get. It runs in FOLDER. */
const PACKAGE_FILE = 'package-places.js'
const PACKAGE = `import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
const root = new URL(${JSON.stringify(`${relative(join('/', FOLDER), '/')}/`)}, import.meta.url).href
export const sourceUrl = (source) => root + source
export const sourceFolder = (source) => dirname(fileURLToPath(sourceUrl(source)))
export function packageUrl(path, base) {
  const url = new URL(path, base)
  if (!url.href.startsWith(root) || !url.href.endsWith('.ts')) return url
  return new URL(${JSON.stringify(`${FOLDER}/`)} + url.href.slice(root.length, -'.ts'.length) + '.js', root)
}
`

/** Declarations of what projects import, and of what those name. */
function declareTypes(root: string): boolean {
  const config = join(root, 'node_modules', '.cache', 'tsconfig.types.json')
  const entries = globSync(ENTRIES, { cwd: root }).map((file) => join(root, file))
  const compilerOptions = {
    noEmit: false,
    incremental: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: join(root, TYPES),
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  mkdirSync(dirname(config), { recursive: true })
  const told = { extends: join(root, 'tsconfig.json'), compilerOptions, files: entries, include: [] }
  writeFileSync(config, JSON.stringify(told))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  return spawnSync(process.execPath, [tsc, '-p', config], { stdio: ['ignore', 2, 2] }).status === 0
}

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
  for (const made of [FOLDER, TYPES]) rmSync(join(root, made), { recursive: true, force: true })
  if (!declareTypes(root)) return fail('The types of what projects import could not be made.')
  const app = await stripApp(root)
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
