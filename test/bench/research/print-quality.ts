import { ndcg, recallAt } from '../../../shared/evals/ranking.ts'
import { meanOf, pairedRandomisation } from '../../../shared/evals/statistics.ts'
import type { Collection } from './collection.ts'
import { openRankers } from './rankers.ts'

/** nDCG@10 and Recall@10 of every ranker on one collection, and how likely our lead is chance. */
export async function printQuality(collection: Collection, print: (line: string) => void): Promise<void> {
  const { name, documents, queries } = collection
  print(`\n${name}: ${documents.length} documents, ${queries.length} queries`)
  print(
    `${'ranker'.padEnd(24)}${'nDCG@10'.padStart(9)}${'Recall@10'.padStart(11)}${'ours / it'.padStart(11)}${'p'.padStart(10)}`,
  )
  const rankers = await openRankers(collection)
  let ours: readonly number[] = []
  for (const [at, ranker] of rankers.entries()) {
    const seen = []
    for (const { text, relevant } of queries) {
      const found = await ranker.find(text)
      seen.push({ ndcg: ndcg(found, relevant), recall: recallAt(found, relevant, 10) })
    }
    ranker.close?.()
    const values = seen.map((one) => one.ndcg)
    if (at === 0) ours = values
    const against = at === 0 ? '' : `${(meanOf(ours) / meanOf(values)).toFixed(3)}x`.padStart(11)
    const p = at === 0 ? '' : pairedRandomisation(ours, values).toExponential(1).padStart(10)
    const recalled = meanOf(seen.map((one) => one.recall))
    print(
      `${ranker.name.padEnd(24)}${meanOf(values).toFixed(4).padStart(9)}${recalled.toFixed(4).padStart(11)}${against}${p}`,
    )
  }
}
