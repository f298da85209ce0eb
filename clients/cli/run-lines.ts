import { outcomeWord } from './asked-lines.ts'
import type { RunAnswer } from './fetch-run.ts'
import { oneLine } from './plain-text.ts'
import { renderRun } from './render-run.ts'
import type { Session } from './session.ts'

/** A run whole: its blocks, what it waits for or why it ended, what people said. */
export function runLines(session: Session, answer: RunAnswer): readonly string[] {
  const { run } = answer
  const { columns } = session.size()
  const canvas = { columns, rows: Number.POSITIVE_INFINITY, color: session.settings.color, now: Date.now() }
  const why = run.waiting_for ?? run.reason
  const parent =
    run.parent === undefined ? [] : [oneLine(`Child of block ${run.parent.block_id} of run ${run.parent.run_id}`)]
  return [
    run.run_id,
    ...parent,
    ...linked(answer),
    ...renderRun(answer, canvas),
    ...judged(answer),
    ...(why === undefined ? [] : [oneLine(why)]),
    ...said(answer),
  ]
}

/** What its gates made of it; `run goal` has each criterion. */
function judged({ run }: RunAnswer): readonly string[] {
  const { final_status, row, goal } = run
  if (final_status === undefined && goal === undefined) return []
  const met = goal === undefined ? [] : [`attempt ${goal.attempt}`, `${goal.met}/${goal.total} criteria`]
  const facts = [final_status ?? 'judged', ...(row === undefined ? [] : [String(row)]), ...met]
  return [oneLine(facts.join(', '))]
}

/** The runs it is linked with. */
function linked({ run }: RunAnswer): readonly string[] {
  const links = [
    ['Continues run', run.continues],
    ['Retries run', run.retry_of],
    ['Takes the place of run', run.iterates],
    ['Goes on as run', run.next_run],
    ['Tries again the goal of run', run.pivots],
    ['Its goal is tried again by run', run.pivoted_by],
    ['Retried by', run.retried_by?.join(', ')],
    ['Continued by', run.continued_by?.join(', ')],
  ]
  return links.flatMap(([words, runs]) => (runs === undefined ? [] : [oneLine(`${words} ${runs}`)]))
}

/** What people said with their decisions, what they changed, and what they waived. */
function said({ approvals }: RunAnswer): readonly string[] {
  return approvals.flatMap((approval) => {
    const { block_id, decided_by = 'nobody', feedback, edits, iterate } = approval
    if (feedback === undefined && edits === undefined && iterate === undefined) return []
    const changed = edits === undefined ? '' : ` with changed inputs ${JSON.stringify(edits)}`
    const again = iterate === undefined ? '' : ', another run goes on'
    return [
      oneLine(
        `Block ${block_id} was ${outcomeWord(approval)} by ${decided_by}${changed}${again}: ${feedback ?? 'nothing was said'}`,
      ),
    ]
  })
}
