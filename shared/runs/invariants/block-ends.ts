import type { RunEvent } from '../event.ts'
import { invariant } from './invariant.ts'
import { itemEndProblems, toleratedItems } from './item-ends.ts'
import { endOf, nameOf, type Pass, passesOf } from './passes.ts'

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:cancelled', 'block:skipped'])

export const blockEnds = invariant({
  n: 7,
  title: 'a block ends once an epoch, an attempt only after it started; an item lives within its block',
  of: 'log',
  needs: ['events'],
  check({ events, dag }) {
    const passes = passesOf(events)
    const tolerated = toleratedItems(dag?.blocks ?? [])
    const blocks = new Map(passes.filter(({ item }) => item === undefined).map((pass) => [keyOf(pass), pass]))
    return passes.flatMap((pass) => {
      const wrong = [...endProblems(pass), ...startProblems(pass)]
      if (pass.item !== undefined) return [...wrong, ...spanProblems(pass, blocks.get(keyOf(pass)))]
      const tolerate = tolerated.get(pass.block_id)
      return tolerate === undefined ? wrong : [...wrong, ...itemEndProblems(pass, passes, tolerate)]
    })
  },
})

function keyOf({ block_id, epoch }: Pass): string {
  return `${epoch}/${block_id}`
}

function endProblems(pass: Pass): readonly string[] {
  const ends = pass.events.filter(({ type }) => ENDS.has(type))
  if (ends.length < 2) return []
  return [`${nameOf(pass)} ended ${ends.length} times in epoch ${pass.epoch}: events ${seqsOf(ends)}`]
}

const OF_ATTEMPT: ReadonlySet<string> = new Set([
  'block:completed',
  'block:output',
  'block:retrying',
  'block:asked',
  'block:resumed',
])

/** A failure without an attempt is a refusal; any other end of an attempt needs its start. */
function startProblems(pass: Pass): readonly string[] {
  const begun = new Set<number | undefined>()
  return pass.events.flatMap(({ type, seq, attempt }) => {
    if (type === 'block:started') begun.add(attempt)
    const isOfAttempt = OF_ATTEMPT.has(type)
    const isWrong = (isOfAttempt || (type === 'block:failed' && attempt !== undefined)) && !begun.has(attempt)
    return isWrong ? [`${nameOf(pass)}: event ${seq} ${type} of attempt ${attempt}, which had not started`] : []
  })
}

/** Nothing of an item before its block began or after it ended. */
function spanProblems(pass: Pass, block: Pass | undefined): readonly string[] {
  const from = block?.events.find(({ type }) => type === 'block:started')?.seq ?? Number.POSITIVE_INFINITY
  const to = (block && endOf(block)?.seq) ?? Number.POSITIVE_INFINITY
  const outside = pass.events.filter(({ seq }) => seq < from || seq > to)
  return outside.length === 0 ? [] : [`${nameOf(pass)}: events ${seqsOf(outside)} outside of its block's life`]
}

function seqsOf(events: readonly RunEvent[]): string {
  return events.map(({ seq }) => seq).join(', ')
}
