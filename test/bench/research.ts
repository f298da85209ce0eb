import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { printAnswers } from './research/print-answers.ts'
import { printHops } from './research/print-hops.ts'
import { printQuality } from './research/print-quality.ts'
import { printSize } from './research/print-size.ts'
import { smartCollection } from './research/smart-collection.ts'
import { wordnetTopics } from './research/wordnet-topics.ts'

/**
 * Search and retrieval of the research chain: `npm run bench:research -- [part ..] [--collection FOLDER] [--entities N]`.
 * Parts: `quality` of ranking, `hops` (questions that lead through the graph), `size` (rates, file, latency of searches at
 * 100,000 entities and 1,000,000 triples), `answers` (whole answers over as many); all of them where none is named. Times are of this machine now: what can be compared
 * are the ratios.
 */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  async quality() {
    await printQuality(wordnetTopics(), print)
    for (const folder of options.collection ?? []) await printQuality(smartCollection(folder), print)
  },
  hops: () => printHops(print),
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
