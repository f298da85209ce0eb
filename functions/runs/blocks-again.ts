import { withBlocksAfter } from '../../shared/dag/blocks-after.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { suggest } from '../../shared/dag/suggest.ts'
import { listed } from '../../shared/dag/wording.ts'
import { Fault } from '../../shared/errors.ts'

const NAMED = 20

/** Blocks a retry begins again with: `from` and all that depend on it. Fault NotFound unknown_block. */
export function blocksAgain(dag: Dag, from: string | undefined): readonly string[] {
  if (from === undefined) return []
  const ids = dag.blocks.map((block) => block.id)
  if (ids.includes(from)) return withBlocksAfter(dag, from)
  const near = suggest(from, ids)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : ''
  const message = `Cannot retry from block "${from}": DAG "${dag.name}" has ${listed(ids.slice(0, NAMED))}${more}.${hint}`
  throw new Fault('NotFound', 'unknown_block', message)
}
