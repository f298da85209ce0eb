import type { BlockDraft } from './read-block.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { didYouMean, suggest } from './suggest.ts'
import type { Wire } from './wire.ts'
import { listed, quoted } from './wording.ts'

/** The blocks each `depends` names are upstream of its block: wires without a value. */
export function connectDepends(
  reading: Reading,
  blocks: readonly BlockDraft[],
  byId: ReadonlyMap<string, BlockDraft>,
): readonly Wire[] {
  return blocks.flatMap((to) => {
    const path = [...to.path, 'depends']
    const ids = new Set(to.reads.depends.map(([id = '']) => id))
    return [...ids].flatMap((id) => {
      const from = byId.get(id)
      if (from !== undefined) return [{ from, to, path }]
      const say: Problem['say'] = ({ who }) => ({
        text: `${who} depends on ${quoted(id)}, but there is no such block; blocks are ${listed(byId.keys())}`,
        hint: didYouMean(suggest(id, byId.keys())),
      })
      reading.problems.push({ code: 'unknown_block', path, say })
      return []
    })
  })
}
