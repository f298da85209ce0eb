import type { Reach } from './reach.ts'
import type { BlockDraft } from './read-block.ts'
import type { DocumentDraft } from './read-document.ts'
import { unknownBlock } from './read-edge.ts'
import type { Reading } from './reading.ts'

/**
 * `entrypoints` and `terminals` have no effect here, since the wires say what comes first and last. They must name
 * blocks; one that is not what it is called is worth a warning: its author expects something else to happen.
 */
export function checkEnds(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  { entrypoints, terminals }: Pick<DocumentDraft, 'entrypoints' | 'terminals'>,
  { before, after }: Reach,
): void {
  const ends = [
    { key: 'entrypoints', ids: entrypoints, beyond: before, why: 'waits for other blocks and starts after them' },
    { key: 'terminals', ids: terminals, beyond: after, why: 'is followed by other blocks, which run too' },
  ] as const
  for (const { key, ids, beyond, why } of ends) {
    for (const [index, id] of ids.entries()) {
      const block = byId.get(id)
      if (block === undefined) unknownBlock(reading, byId, id, [key, index])
      else if (beyond(block).size > 0) {
        const message = `"${key}" names block "${id}", which ${why}; the wires decide, not this list.`
        reading.warnings.push({ code: 'end_has_no_effect', path: `${key}[${index}]`, message })
      }
    }
  }
}
