import type { DagGraph } from '../../../shared/plan/graph.ts'
import { backWords } from './back-words.ts'
import type { BlockLive } from './graph-lives.ts'

interface Named extends Pick<DagGraph['nodes'][number], 'id'> {
  readonly max_attempts: number
}

/** A node in words, for who does not see it, its state as it is shown: `build, retrying, try 2 of 3, 1 gate failed, on the critical path`. */
export function nodeWords(
  { id, max_attempts }: Named,
  live: BlockLive & { readonly label: string },
  isCritical: boolean,
): string {
  const { label, attempt, untried, epoch, passed, failed, waived, item_count, items_done } = live
  const words = [
    id,
    label,
    attempt - untried > 1 && `try ${attempt - untried} of ${max_attempts}`,
    untried > 0 && `${untried === 1 ? '1 attempt' : `${untried} attempts`} not counted`,
    epoch > 0 && backWords(epoch),
    passed > 0 && `${gates(passed)} passed`,
    failed > 0 && `${gates(failed)} failed`,
    waived > 0 && `${gates(waived)} waived`,
    item_count !== undefined && `${items_done} of ${item_count} items done`,
    isCritical && 'on the critical path',
  ]
  return words.filter((word) => word !== false).join(', ')
}

function gates(count: number): string {
  return count === 1 ? '1 gate' : `${count} gates`
}
