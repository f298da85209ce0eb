import { beginsRest, restText } from '../../../shared/runs/append-rules.ts'
import type { Append, RestChange, RunQueue } from '../../../shared/runs/run-store.ts'
import { headKey } from './head.ts'
import { as } from './item-encoding.ts'
import type { RunTable, Terms } from './table.ts'

/** Where a run rests is one text of HEAD, compared as a whole: of a change its clauses, and what it asks of HEAD. */
export function restSets({ path, value }: Terms, rest: RestChange | undefined): readonly string[] {
  const set = rest?.set ?? null
  return set === null ? [] : [`${path('resting')} = ${value(as.text(restText(set)))}`]
}

export function restRemovals({ path }: Terms, rest: RestChange | undefined): readonly string[] {
  return rest?.set === null ? [path('resting')] : []
}

export function restGuards({ path, value }: Terms, { rest, start }: Pick<Append, 'rest' | 'start'>): readonly string[] {
  // A name that no clause uses is refused.
  if (rest === undefined && start === undefined) return []
  const resting = path('resting')
  const without = `attribute_not_exists(${resting})`
  if (rest === undefined) return [without]
  const stands = rest.was === null ? without : `${resting} = ${value(as.text(restText(rest.was)))}`
  // A set of which the last member has left is no attribute any more.
  return beginsRest(rest) ? [stands, `attribute_not_exists(${path('running')})`] : [stands]
}

/** The same without an append. */
export function restingOn(table: RunTable): Pick<RunQueue, 'moveRest'> {
  return {
    async moveRest(run, rest, deadline_at) {
      const moved = await table.update(headKey(run), (terms) => {
        const { path, value } = terms
        const remove = restRemovals(terms, rest)
        const sets = [
          ...restSets(terms, rest),
          ...(deadline_at === undefined ? [] : [`${path('deadline_at')} = ${value(as.text(deadline_at))}`]),
        ]
        const clauses = [
          ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
          ...(remove.length === 0 ? [] : [`REMOVE ${remove.join(', ')}`]),
        ]
        const guards = [`${path('state')} = ${value(as.text('running'))}`, ...restGuards(terms, { rest })]
        return { update: clauses.join(' '), condition: guards.join(' AND ') }
      })
      if (moved.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = moved.sent > 1 ? await table.get(headKey(run), { only: [['resting'], ['state']] }) : undefined
      return now?.state?.S === 'running' && (now.resting?.S ?? null) === restText(rest.set)
    },
  }
}
