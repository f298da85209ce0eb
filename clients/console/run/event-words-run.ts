import type { EventType, RunEvent } from '../../../shared/runs/event.ts'

/** The event of one type. */
export type SomeEvent<T extends EventType> = Extract<RunEvent, { readonly type: T }>

type Started = SomeEvent<'run:started'>['data']

/** How a run began: of which document, by whom, and from which other run. */
export function startedWords(data: Started): string {
  const from = ORIGINS.flatMap(([member, words]) => {
    const run = data[member]
    return run === undefined ? [] : [`${words} ${run}`]
  })
  const parent = data.parent === undefined ? [] : [`for block ${data.parent.block_id} of ${data.parent.run_id}`]
  const queued = data.queued === true ? ['waits for a place'] : []
  return [`run of ${data.dag_name} started by ${data.starter}`, ...parent, ...from, ...queued].join(', ')
}

const ORIGINS = [
  ['continues', 'going on from'],
  ['retry_of', 'retrying'],
  ['iterates', 'in place of'],
  ['pivots', 'next attempt at the goal of'],
] as const

type Ended = SomeEvent<'run:completed'>

export function endedWords(type: string, { reason, next_run }: Ended['data']): string {
  return `run ${type.slice('run:'.length)}: ${reason}${next_run === undefined ? '' : `; goes on as ${next_run}`}`
}

/** An event of an earlier version has no more than how many criteria are met. */
export function goalEventWords(data: SomeEvent<'goal:evaluated'>['data']): string {
  const { status, met, total, row, attempt, final_status, action } = data
  const criteria = total === 0 ? status : `${status}, ${met} of ${total} criteria`
  const end = final_status === undefined ? '' : `; ${row}: ${final_status}, next ${action ?? 'none'}`
  return `goal, attempt ${attempt}: ${criteria}${end}`
}
