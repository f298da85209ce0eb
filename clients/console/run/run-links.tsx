import { hrefOf } from '../route.ts'
import type { RunAnswer, RunSession } from '../run-session.ts'

/** The runs it came of and those that came of it, each with the way to compare them. */
export function RunLinks({ session }: { readonly session: RunSession }) {
  const run = session.answer.value?.run
  if (run === undefined) return null
  const relations = relationsOf(run)
  if (relations.length === 0) return null
  return (
    <ul class="run-links small" aria-label="Linked runs">
      {relations.map(({ words, id, block }) => (
        <li key={`${words} ${id}`}>
          {words}{' '}
          <a href={hrefOf(['runs', id], { block })} title={id}>
            <code>{id.slice(0, SHORT)}…</code>
          </a>
          {block !== undefined && (
            <>
              {' '}
              block <code>{block}</code>
            </>
          )}
          {block === undefined && (
            <a href={hrefOf(['compare', id, run.run_id])} aria-label={`Compare ${id} with this run`}>
              compare
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

interface Relation {
  readonly words: string
  readonly id: string
  readonly block?: string
}

/** run_ and the first eight characters tell runs of one place apart; the whole id is in the title. */
const SHORT = 12

function relationsOf(run: RunAnswer['run']): readonly Relation[] {
  const { parent, retried_by = [], continued_by = [] } = run
  const one = (words: string, id: string | undefined): readonly Relation[] => (id === undefined ? [] : [{ words, id }])
  const next = run.next_run === run.pivoted_by ? undefined : run.next_run
  return [
    ...(parent === undefined ? [] : [{ words: 'Works for', id: parent.run_id, block: parent.block_id }]),
    ...one('Continues', run.continues),
    ...one('Retries', run.retry_of),
    ...one('Takes the place of', run.iterates),
    ...one('Tries again the goal of', run.pivots),
    ...one('Goal tried again by', run.pivoted_by),
    ...one('Followed by', next),
    ...retried_by.flatMap((id) => one('Retried by', id)),
    ...continued_by.flatMap((id) => one('Continued by', id)),
  ]
}
