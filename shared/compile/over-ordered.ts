import type { BounceModule } from '../dag/bounce-modules.ts'
import type { CompiledBlock } from './compiled-block.ts'
import type { ContractedOrder } from './contract-modules.ts'

/** A wait the document does not ask for: a bounce module begins and ends as a whole. */
export interface OverOrdered {
  /** Ids: `after` starts when `before` has ended, though it does not depend on it. */
  readonly before: string
  readonly after: string
  readonly module: number
  readonly reason: string
}

/**
 * What taking modules for single nodes adds to the order: a module's first blocks wait for everything the module waits
 * for, and whatever waits for one of its blocks waits for all its last ones. Pairs these imply are left out.
 */
export function overOrdered(blocks: readonly CompiledBlock[], { nodes }: ContractedOrder): readonly OverOrdered[] {
  if (nodes.every(({ kind }) => kind === 'block')) return []
  const byId = new Map(blocks.map((block) => [block.id, block]))
  return nodes.flatMap((node) => {
    if (node.kind === 'block') return []
    const inside = new Set(node.module.blocks)
    return [...heldBack(node.module, inside, byId), ...heldUp(node.module, inside, blocks, byId)]
  })
}

type ById = ReadonlyMap<string, CompiledBlock>

function heldBack(module: BounceModule, inside: ReadonlySet<string>, byId: ById): readonly OverOrdered[] {
  const outside = (id: string) => (byId.get(id)?.upstream ?? []).filter((source) => !inside.has(source))
  const sources = [...new Set(module.blocks.flatMap(outside))]
  const entries = module.blocks.filter((id) => outside(id).length === (byId.get(id)?.upstream.length ?? 0))
  return entries.flatMap((after) => {
    const waits = ancestors(after, byId)
    const reason = `bounce module ${module.key} runs again as a whole, so it begins when all it waits for has ended`
    return sources
      .filter((before) => !waits.has(before))
      .map((before) => ({ before, after, module: module.key, reason }))
  })
}

function heldUp(
  module: BounceModule,
  inside: ReadonlySet<string>,
  blocks: readonly CompiledBlock[],
  byId: ById,
): readonly OverOrdered[] {
  const reason = `bounce module ${module.key} may run again until its last block has ended, so nothing leaves it before`
  return blocks
    .filter(({ id, upstream }) => !inside.has(id) && upstream.some((source) => inside.has(source)))
    .flatMap(({ id: after }) => {
      const waits = ancestors(after, byId)
      return module.sinks
        .filter((before) => !waits.has(before))
        .map((before) => ({ before, after, module: module.key, reason }))
    })
}

function ancestors(id: string, byId: ById): ReadonlySet<string> {
  const found = new Set(byId.get(id)?.upstream)
  for (const source of found) for (const further of byId.get(source)?.upstream ?? []) found.add(further)
  return found
}
