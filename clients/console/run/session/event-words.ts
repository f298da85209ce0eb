import { decisionWords, questionWords, refusedDecisionWords } from '../../../../shared/runs/approval.ts'
import type { EventType, RunEvent } from '../../../../shared/runs/event.ts'
import { bytesWords, durationWords, momentWords, usdWords } from '../../parts/words.ts'

/** One event as one line for people. A type this page does not know is told by its name. */
export function eventWords(event: RunEvent): string {
  const known = WORDS as Partial<Record<string, (event: RunEvent) => string>>
  return (known[event.type]?.(event) ?? event.type).replace(/\s+/g, ' ')
}

/** One entry a type: a new type does not compile until it has words. */
const WORDS: { readonly [T in EventType]: (event: SomeEvent<T>) => string } = {
  'run:started': ({ data }) => startedWords(data),
  'run:completed': ({ type, data }) => endedWords(type, data),
  'run:partial': ({ type, data }) => endedWords(type, data),
  'run:blocked': ({ type, data }) => endedWords(type, data),
  'run:failed': ({ type, data }) => endedWords(type, data),
  'run:cancelled': ({ type, data }) => endedWords(type, data),
  'run:iterated': ({ type, data }) => endedWords(type, data),
  'block:ready': () => 'may start: everything before it is done',
  'block:started': startWords,
  'block:output': ({ data }) => outputWords(data),
  'block:gate': ({ data }) => `gate ${data.gate} (${data.phase}) ${data.status}: ${data.reason}`,
  'block:retrying': ({ at, data }) => `tries again ${waitWords(at, data.due_at)}: ${data.reason}`,
  'block:asked': ({ data }) => `asks a person about ${ASKED[data.about]}: ${data.reason}`,
  'block:resumed': () => 'goes on after a yes',
  'block:completed': ({ data }) =>
    data.cached_from === undefined ? 'completed' : `completed with the kept result of ${data.cached_from}`,
  'block:failed': ({ data }) => `failed: ${data.reason}`,
  'block:skipped': ({ data }) =>
    data.condition === undefined
      ? `skipped because of ${data.because.join(', ')}`
      : `skipped, as its "${data.condition}" is not true`,
  'block:cancelled': ({ data }) => `cancelled: ${data.reason}`,
  'block:rerouted': ({ data: { to, reset, bounce, max, reason } }) =>
    `sent back to ${to} (bounce ${bounce} of ${max}; again: ${reset.join(', ')}): ${reason}`,
  'approval:requested': approvalEventWords,
  'approval:decided': approvalEventWords,
  'approval:refused': approvalEventWords,
  'approval:expired': approvalEventWords,
  'approval:reminded': approvalEventWords,
  'approval:escalated': approvalEventWords,
  'budget:reserved': ({ data }) => `sets aside at most ${counted(data.tokens)} tokens, ${money(data.usd_micros)}`,
  'budget:exceeded': ({ data: { of, cap, wanted } }) =>
    `would go over the cap of the ${CAPS[of]}: ${inUnit(of, wanted)} wanted, ${inUnit(of, cap)} allowed`,
  'goal:evaluated': ({ data }) => goalEventWords(data),
  'research:requested': ({ data }) => `the question is asked${tokenWords(data.tokens)}`,
  'research:classified': ({ data }) => `the question is understood${tokenWords(data.tokens)}`,
  'research:routed': ({ data }) => `the way to search is chosen: ${data.action ?? 'none'}${tokenWords(data.tokens)}`,
  'research:executed': ({ data }) => `sub-queries ran${tokenWords(data.tokens)}`,
  'research:assessed': ({ data }) =>
    `what was found is ${data.sufficient === true ? 'enough' : 'not enough'}${tokenWords(data.tokens)}`,
  'research:synthesized': ({ data }) => `the answer is written${tokenWords(data.tokens)}`,
  'research:continued': ({ data }) => `whoever asked was told${tokenWords(data.tokens)}`,
  'context:patched': ({ data }) => `shared context changed to version ${data.version}: ${data.keys.join(', ')}`,
}

const ASKED = { pre_gates: 'its pre-gates', post_gates: 'its post-gates', budget: 'the budget of the run' } as const
const CAPS = {
  run_tokens: 'run',
  run_usd_micros: 'run',
  block_tokens: 'block',
  block_usd_micros: 'block',
} as const

function startWords({ attempt = 1, data }: SomeEvent<'block:started'>): string {
  const items = data.items === undefined ? '' : ` on ${data.items.count} items`
  const child = data.child === undefined ? '' : `, done by ${data.child}`
  return `${attempt === 1 ? 'started' : `attempt ${attempt} started`}${items}${child}`
}

function outputWords({ outputs, provider, model, latency_ms, note }: SomeEvent<'block:output'>['data']): string {
  const ports = Object.entries(outputs).map(([port, { bytes }]) => `${port} (${bytesWords(bytes)})`)
  const said = note === undefined ? '' : `; ${note}`
  const who = provider === model ? provider : `${provider} ${model}`
  return `${who} gave ${ports.join(', ') || 'nothing'} in ${durationWords(latency_ms)}${said}`
}

function waitWords(at: string, due: string): string {
  const wait = Date.parse(due) - Date.parse(at)
  return wait > 0 ? `in ${durationWords(wait)}` : 'at once'
}

function tokenWords(tokens: number): string {
  return tokens === 0 ? '' : ` (${counted(tokens)} tokens)`
}

function inUnit(of: keyof typeof CAPS, amount: number): string {
  return of.endsWith('tokens') ? `${counted(amount)} tokens` : money(amount)
}

function counted(count: number): string {
  return count.toLocaleString('en')
}

function money(usd_micros: number): string {
  return usdWords(usd_micros / 1_000_000)
}

/** The event of one type. */
type SomeEvent<T extends EventType> = Extract<RunEvent, { readonly type: T }>

type Started = SomeEvent<'run:started'>['data']

/** How a run began: of which document, by whom, and from which other run. */
function startedWords(data: Started): string {
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

function endedWords(type: string, { reason, next_run }: Ended['data']): string {
  return `run ${type.slice('run:'.length)}: ${reason}${next_run === undefined ? '' : `; goes on as ${next_run}`}`
}

/** An event of an earlier version has no more than how many criteria are met. */
function goalEventWords(data: SomeEvent<'goal:evaluated'>['data']): string {
  const { status, met, total, row, attempt, final_status, action } = data
  const criteria = total === 0 ? status : `${status}, ${met} of ${total} criteria`
  const end = final_status === undefined ? '' : `; ${row}: ${final_status}, next ${action ?? 'none'}`
  return `goal, attempt ${attempt}: ${criteria}${end}`
}

type ApprovalEvent = Extract<RunEvent, { readonly type: `approval:${string}` }>
type DataOf<T extends ApprovalEvent['type']> = Extract<ApprovalEvent, { readonly type: T }>['data']

/** What an event says of a question to people. */
function approvalEventWords(event: ApprovalEvent): string {
  switch (event.type) {
    case 'approval:requested':
      return requestWords(event.data)
    case 'approval:decided':
      return decisionWords(event.data, durationWords(event.data.waited_ms))
    case 'approval:reminded':
      return `reminder ${event.data.n}: nobody decided yet`
    case 'approval:escalated':
      return `escalated: ${event.data.to.join(', ')} may decide too`
    case 'approval:refused':
      return refusedDecisionWords(event.data)
    case 'approval:expired':
      return `nobody decided in time: ${EXPIRED[event.data.on_timeout]}`
  }
}

const EXPIRED = { reject: 'counts as a no', fail: 'the block fails', approve: 'counts as a yes' } as const

function requestWords(data: DataOf<'approval:requested'>): string {
  const { expires_at, approvers } = data
  const who = approvers.length === 0 ? '' : ` (${approvers.join(', ')})`
  return `${questionWords(data)}${who} until ${momentWords(expires_at)}`
}
