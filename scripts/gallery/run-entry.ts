import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withPlace } from '../../clients/cli/place/with-place.ts'
import { importAtlas, writeAtlas } from '../atlas/import-atlas.ts'
import type { GalleryEntry } from './gallery-entries.ts'

const root = dirname(dirname(import.meta.dirname))

/** Runs a document of the gallery in a folder of its own, whose `.sluice` keeps the run, and answers what it printed. */
export async function runEntry(entry: GalleryEntry, cwd: string): Promise<readonly string[]> {
  mkdirSync(cwd, { recursive: true })
  await PREPARED[entry.name]?.(cwd)
  return runShown(wordsOf(entry), cwd)
}

/** Documents that need more than their own text: a data file, or a graph to ask. */
const PREPARED: Readonly<Record<string, (cwd: string) => unknown>> = {
  'dataset-brief': (cwd) => {
    const countries = dirname(createRequire(import.meta.url).resolve('world-countries/package.json'))
    mkdirSync(join(cwd, 'inputs'))
    copyFileSync(join(countries, 'countries.json'), join(cwd, 'inputs', 'countries.json'))
  },
  'country-brief': (cwd) =>
    withPlace({ dataDir: join(cwd, '.sluice'), port: 0, example: true }, ({ target, signal }) =>
      importAtlas(target, writeAtlas(cwd), { signal, note: () => {} }),
    ),
}

/** `--input goal="Add dark mode"` is one word to a shell. */
function wordsOf({ command }: GalleryEntry): readonly string[] {
  const words = command.match(/(?:[^\s"]|"[^"]*")+/g) ?? []
  return words
    .map((word) => word.replaceAll('"', ''))
    .map((word) => (word.startsWith('dags/') ? join(root, word) : word))
}

const CLI = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
/** Lines of what happens in the run, and of what is said once it has ended. */
const MAX_LINES = { before: 14, after: 6 }

/** Runs a command line of `sluice` in a folder and answers what is worth showing of it; a failed one is an error. */
async function runShown(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [CLI, ...words], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, `sluice ${words.join(' ')} ended with ${code}:\n${out}`)
  return shortened(out.trimEnd().split('\n').filter(isTelling).map(withoutChance))
}

/**
 * What happened to the run; that a block started, worked and ended well is the picture's to say, and that nobody has deployed the
 * document is the same of all.
 */
function isTelling(line: string): boolean {
  if (line.startsWith('In a browser:') || line.startsWith('!! ')) return false
  return !/^ +[\d.]+ s {2}(.*: (?:started|completed|attempt \d+ started)$|.* gave |.*: gate .* passed|run of )/.test(
    line,
  )
}

/** Ids, times and folders differ from run to run. */
function withoutChance(line: string): string {
  return line
    .replace(/run_[0-9a-z]{26}/g, 'RUN')
    .replace(/^ +[\d.]+ s {2}/, '  ')
    .replace(/ in [\d.]+ m?s/g, '')
    .replace(/ \([\d.]+ m?s\)/g, '')
    .replace(/ after [\d.]+ m?s$/, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/ at http:\S+/, ' at http://127.0.0.1:PORT')
    .replace(/kept in \S+/, 'kept in .sluice')
    .replace(/: \S*\/artifacts\/RUN/, ': .sluice/artifacts/RUN')
    .replace(/by user:[^\s;]+/g, 'by user:YOU')
}

function shortened(lines: readonly string[]): readonly string[] {
  const ended = lines.findLastIndex((line) => line.startsWith('Run RUN completed'))
  if (lines.length <= MAX_LINES.before) return first(lines, lines.length)
  return [...first(lines.slice(0, ended), MAX_LINES.before), ...first(lines.slice(ended), MAX_LINES.after)]
}

function first(lines: readonly string[], most: number): readonly string[] {
  const width = (line: string) => (line.length > 170 ? `${line.slice(0, 170)} ..` : line)
  const more = lines.length - most
  const shown = lines.length > most ? [...lines.slice(0, most - 1), `  .. ${more + 1} more lines`] : lines
  return shown.map(width)
}
