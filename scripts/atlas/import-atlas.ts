import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { importGraph } from '../../clients/cli/graph/import-graph.ts'
import type { Target } from '../../clients/cli/server/api.ts'
import { durationWords } from '../../clients/cli/terminal/format.ts'
import { atlasEntities } from './atlas-entities.ts'
import { readSources } from './sources.ts'

/** The atlas as NDJSON. */
interface AtlasFile {
  readonly path: string
  readonly text: string
}

/** The lines that are imported stay there: `sluice graph import` takes the same file. */
export function writeAtlas(folder: string): AtlasFile {
  const lines = atlasEntities(readSources()).map((line) => `${JSON.stringify(line)}\n`)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'atlas.ndjson')
  const text = lines.join('')
  writeFileSync(path, text)
  return { path, text }
}

/** Puts it into the graph of a place and answers what that came to, in a line. */
export async function importAtlas(
  target: Target,
  { path, text }: AtlasFile,
  { signal, note }: { readonly signal: AbortSignal; note(why: string): void },
): Promise<string> {
  const began = Date.now()
  const imported = await importGraph(target, pieces(text), {
    from: 1,
    signal,
    progress: ({ waits }) => waits !== undefined && note(waits),
  })
  if (imported.stopped !== undefined) throw imported.stopped
  const counts = Object.entries(imported.outcomes).map(([outcome, times]) => `${times} ${outcome}`)
  const where = relative(process.cwd(), path)
  return `Imported ${where} in ${durationWords(Date.now() - began)}: ${counts.join(', ')}, ${imported.refused} refused.`
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
