import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { withPlace } from '../../clients/cli/with-place.ts'
import { importAtlas, writeAtlas } from '../atlas/import-atlas.ts'
import type { GalleryEntry } from './gallery-entries.ts'
import { runShown } from './run-shown.ts'

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
