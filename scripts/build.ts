import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole, reasonToBuild } from './build-console.mjs'
import { bundleApp } from './bundle-app.ts'
import { CONSOLE_LIMIT_BYTES, consoleSize } from './console-size.ts'

/** `npm run build`: all of dist/, which `npm pack` takes: the console, and the CLI with the local place as JavaScript. */
const root = dirname(dirname(fileURLToPath(import.meta.url)))

async function build(): Promise<void> {
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

await build()
