import type { Block, Dag } from '../shared/dag/dag.ts'
import { suggest } from '../shared/dag/suggest.ts'
import { Fault } from '../shared/errors.ts'

/** The block a request names, in the document of its run. */
export function requireBlock(dag: Dag, id: string): Block {
  const found = dag.blocks.find((block) => block.id === id)
  if (found !== undefined) return found
  const ids = dag.blocks.map((block) => block.id)
  const near = suggest(id, ids)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  const more = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  const message = `Cannot find block "${id}": DAG "${dag.name}" has ${ids.slice(0, 20).join(', ')}${more}.${hint}`
  throw new Fault('NotFound', 'unknown_block', message)
}
