import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Collection } from './collection.ts'
import { hopsCollection } from './hops-collection.ts'
import { smartCollection } from './smart-collection.ts'

/** A folder in the form of the SMART system, a file of questions over several passages, or a folder of such files. */
export function readCollections(path: string): readonly Collection[] {
  if (path.endsWith('.json')) return [hopsCollection(path)]
  const names = readdirSync(path)
  if (names.some((name) => /\.all/i.test(name))) return [smartCollection(path)]
  const files = names.filter(
    (name) => existsSync(join(path, name.replace(/\.json$/, '_corpus.json'))) && name.endsWith('.json'),
  )
  if (files.length > 0) return files.map((name) => hopsCollection(join(path, name)))
  throw new Error(
    `Cannot read the collection "${path}": it has neither *.all*, *.qry and *qrel* or *.rel, nor NAME.json with NAME_corpus.json (docs/benchmarks.md, Ranking).`,
  )
}
