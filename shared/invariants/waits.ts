import { type Pass, passesOf, passName } from '../runs/block-passes.ts'
import type { RunEvent } from '../runs/event.ts'
import { defineInvariant } from './invariant.ts'

export const waits = defineInvariant({
  n: 44,
  title: 'a wait ends once, by what it is for or by its time and not before that; no event wakes a block twice',
  of: 'log',
  needs: ['events'],
  check: ({ events }) => passesOf(events).flatMap((pass) => [...endProblems(pass), ...twiceProblems(pass)]),
})

type Waiting = Extract<RunEvent, { readonly type: 'block:waiting' }>

function endProblems(pass: Pass): readonly string[] {
  const open = new Map<number | undefined, Waiting>()
  return pass.events.flatMap((event) => {
    const { seq, attempt } = event
    if (event.type === 'block:waiting') {
      const before = open.get(attempt)
      open.set(attempt, event)
      return before === undefined ? [] : [`${passName(pass)}: event ${seq}: attempt ${attempt} waits twice`]
    }
    if (event.type !== 'block:woken') return []
    const began = open.get(attempt)
    if (began === undefined) return [`${passName(pass)}: event ${seq}: attempt ${attempt} is woken and does not wait`]
    const why = wakeProblem(began, event)
    return why === undefined ? [] : [`${passName(pass)}: event ${seq}: ${why}`]
  })
}

/** What the machine's order of states cannot tell: whether it was woken by something it waited for. */
function wakeProblem(
  { data: { for: kind, until } }: Waiting,
  { at, data }: Extract<RunEvent, { readonly type: 'block:woken' }>,
): string | undefined {
  if (data.by === 'time') return at < until ? `its time is ${until}, it was woken at ${at}` : undefined
  if (data.by === 'limit')
    return kind === 'event' ? undefined : `it waits for its ${kind} and was ended by what is kept of events`
  if (data.by !== kind) return `it waits for its ${kind} and was woken by its ${data.by}`
  return data.payload === undefined ? `what its ${data.by} said is not recorded` : undefined
}

function twiceProblems(pass: Pass): readonly string[] {
  const seen = new Set<string>()
  return pass.events.flatMap((event) => {
    if (event.type !== 'block:woken' || event.data.event_id === undefined) return []
    const { event_id } = event.data
    if (seen.has(event_id)) return [`${passName(pass)}: event ${event.seq}: woken by ${event_id} again`]
    seen.add(event_id)
    return []
  })
}
