import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { printAnswers } from './research/print-answers.ts'
import { printCollection } from './research/print-collection.ts'
import { printHops } from './research/print-hops.ts'
import { printKinds } from './research/print-kinds.ts'
import { printQuality } from './research/print-quality.ts'
import { printSize } from './research/print-size.ts'
import { readCollections } from './research/read-collections.ts'
import { wordnetTopics } from './research/wordnet-topics.ts'

/**
 * Search and retrieval of the research chain: `npm run bench:research -- [part ..] [--collection PATH ..] [--entities N]`.
 * Parts: `quality` of ranking, `collections` (each one given, stage by stage beside plain rankings: a folder with
 * `*.all*`, `*.qry`, `*qrel*` or `*.rel` in the form of the SMART system, or `NAME.json` with `NAME_corpus.json` beside it
 * as HotpotQA, 2WikiMultihopQA and MuSiQue have them, or a folder of such), `hops` (questions that lead through the graph), `kinds` (negation, direction, counts and their like, right or refused), `size` (rates, file, latency of searches at
 * 100,000 entities and 1,000,000 triples), `answers` (whole answers over as many); all of them where none is named. Times are of this machine now: what can be compared
 * are the ratios.
 */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  async quality() {
    await printQuality(wordnetTopics(), print)
  },
  async collections() {
    const collections = (options.collection ?? []).flatMap(readCollections)
    for (const collection of collections) await printCollection(collection, print)
  },
  hops: () => printHops(print),
  kinds: () => printKinds(print),
  size: () => printSize(Number(options.entities), print),
  answers: () => printAnswers(Number(options.entities), print),
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    collection: { type: 'string', multiple: true },
    entities: { type: 'string', default: '100000' },
  },
})

async function main(): Promise<void> {
  const load = (loadavg()[0] ?? 0).toFixed(1)
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, load ${load}`)
  for (const name of positionals.length === 0 ? Object.keys(PARTS) : positionals) {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
    if (part === undefined) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}.`)
    await part()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
