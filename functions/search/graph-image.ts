import type { DatabaseSync } from 'node:sqlite'
import { passagesIn } from './index-file.ts'
import { type LoadedGraph, loadInSteps } from './load-graph.ts'

/**
 * The graph as a reader has it in memory, kept in the index file: with 100,000 entities it takes seconds to make it of the
 * rows, and a hundredth of that to read it from here, so the first answer of a process does not wait for it. Numbers are as
 * the processor has them, lowest byte first. Whoever changes what the graph is made of drops it in the same transaction.
 */
export function storedGraph(db: DatabaseSync): LoadedGraph | undefined {
  const find = db.prepare('SELECT bytes FROM graph_image WHERE part = ?')
  if (find.get('words') === undefined) return undefined
  // Copied: arrays of wider numbers begin where these may begin.
  const part = (name: string) => new Uint8Array(find.get(name)?.bytes as Uint8Array)
  const nodes = new Uint32Array(part('nodes').buffer)
  const words = JSON.parse(Buffer.from(part('words')).toString()) as Words
  return {
    nodes,
    types: new Uint16Array(part('types').buffer),
    ...words,
    adjacency: {
      nodes: nodes.length,
      offsets: new Uint32Array(part('offsets').buffer),
      targets: new Uint32Array(part('targets').buffer),
      kinds: new Uint16Array(part('kinds').buffer),
      own: part('own'),
    },
  }
}

type Words = Pick<LoadedGraph, 'predicates' | 'predicateWords' | 'typeNames'>

/** In one transaction, and none is under way. */
function storeGraph(db: DatabaseSync, graph: LoadedGraph): void {
  const { nodes, types, adjacency, predicates, predicateWords, typeNames } = graph
  const { offsets, targets, kinds, own } = adjacency
  const words: Words = { predicates, predicateWords, typeNames }
  const arrays = { nodes, types, offsets, targets, kinds, own, words: Buffer.from(JSON.stringify(words)) }
  db.exec('BEGIN')
  try {
    const put = db.prepare('INSERT OR REPLACE INTO graph_image (part, bytes) VALUES (?, ?)')
    for (const [part, { buffer, byteOffset, byteLength }] of Object.entries(arrays)) {
      put.run(part, new Uint8Array(buffer, byteOffset, byteLength))
    }
    db.exec('COMMIT')
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}

/** The graph of the file: as it is kept, else made of the rows, others having turns between, and kept. Nobody writes meanwhile. */
export async function keepGraph(db: DatabaseSync, pause?: () => Promise<void>): Promise<LoadedGraph> {
  const known = storedGraph(db)
  if (known !== undefined) return known
  const steps = loadInSteps(db, passagesIn(db))
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) {
      storeGraph(db, value)
      return value
    }
    await pause?.()
  }
}
