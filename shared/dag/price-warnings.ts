import { priceAt } from '../price-at.ts'
import { blockCaps, runCaps } from '../runs/run-caps.ts'
import { type Routing, SafetySchema } from '../settings.ts'
import type { Block, Dag } from './dag.ts'
import { findAgent } from './find-agent.ts'
import type { DagWarning } from './warnings.ts'

/** Calls that a cap in dollars will refuse, since nobody knows what they cost. */
export function priceWarnings(dag: Dag, routing: Routing): readonly DagWarning[] {
  const safety = routing.safety ?? SafetySchema.parse({})
  const inRun = runCaps(safety, dag.budget).cap_usd_micros !== undefined
  return dag.blocks.flatMap((block) => {
    const isCapped = inRun || blockCaps(safety, block.budget).cap_usd_micros !== undefined
    return isCapped ? unpriced(block, routing) : []
  })
}

function unpriced(block: Block, routing: Routing): readonly DagWarning[] {
  if (block.mode !== 'ai') return []
  const found = findAgent(block.agent, routing)
  if (!found.ok || priceAt(routing, found.provider, found.model) !== undefined) return []
  const message = `Block "${block.id}" will fail: a cap in dollars holds, and what model "${found.model}" of provider "${found.provider}" costs is not known. Use caps in tokens, a model with a known price, or say its price under prices in the settings.`
  return [{ code: 'budget_price_unknown', path: `blocks[${block.index}].agent`, message }]
}
