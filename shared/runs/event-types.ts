import type { Stage } from '../research/stages.ts'
import { approvalRequestWords, decisionWords, refusedDecisionWords } from './approval-words.ts'
import type { EventData, EventType, NewEvent, RunEnd, RunEvent, UsedByCalls } from './event.ts'
import {
  cancelBlock,
  changeBlock,
  closeApproval,
  countUnchargedAttempt,
  type Draft,
  decideApproval,
  endItems,
  endRun,
  endStep,
  enterAttempt,
  foldOutput,
  moveOn,
  openApproval,
  resetBlock,
  runningChange,
  startStep,
  withVerdict,
} from './fold-draft.ts'
import type { RunState } from './head.ts'
import type { BlockState } from './run-store-items.ts'

/**
 * What one type of event means wherever events are read. A new type is its data in event.ts (the schema stands apart: what
 * a browser loads has no zod in it) and its row here. Invariants, projections and spans of a trace read events for
 * themselves.
 */
interface EventRow<T extends EventType> {
  /** One line for people, without the block it is about. */
  readonly words: (event: EventOf<T>, say: Say) => string
  /** Not worth a line of a log: another event tells it too. */
  readonly quiet?: true
  /** Its colour where events are coloured; absent: it is no moment one would jump to. */
  readonly tone?: Tone
  /** What it does to the view of a run; absent: it changes no state. */
  readonly fold?: (draft: Draft, event: EventOf<T>) => void
  /** The state it puts the item of a foreach block into whose event it is. */
  readonly item?: BlockState
  /** The state it ends the run in. */
  readonly ends?: RunState
  /** The stage of the research chain it records. */
  readonly stage?: Stage
  /** What it is the first to tell that calls of providers used. */
  readonly used?: (data: EventData<T>) => UsedByCalls | undefined
  /** What is counted when it is recorded, in metrics of namespace Sluice: one of this name, or values by name. */
  readonly metric?: string | ((data: EventData<T>) => Readonly<Record<string, number>>)
}

const NO_PROVIDERS: ReadonlySet<string> = new Set(['wait', 'agent'])
const NOT_COUNTED: Readonly<Record<string, number>> = {}

type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>

/** Names of colours, by what they mean. */
export type Tone = 'good' | 'bad' | 'busy' | 'wait' | 'warn' | 'quiet'

/** How whoever shows an event writes sizes (bytes), spans (ms), moments (ISO 8601) and money (US dollars). */
export interface Say {
  readonly bytes: (bytes: number) => string
  readonly duration: (ms: number) => string
  readonly moment: (at: string) => string
  readonly usd: (usd: number) => string
}

/** Of calls that `spent` is the first to tell of. */
const spent = (data: { readonly spent?: UsedByCalls | undefined }) => data.spent

/** Every type of event there is: a type that is missing here does not compile. */
const EVENT_ROWS: { readonly [T in EventType]: EventRow<T> } = {
  'run:started': {
    words: ({ data }) => startedWords(data),
    tone: 'busy',
    fold: (draft, { at, data }) => {
      draft.run = { ...draft.run, started_at: at, ...(data.queued === true ? { queued: true } : {}) }
    },
  },
  'run:paused': {
    words: ({ data }) => `paused by ${byWords(data)}: nothing begins, deadlines stand still`,
    tone: 'wait',
    fold: (draft, { at, data }) => {
      draft.run = { ...draft.run, paused: { since: at, ...data } }
    },
    metric: 'runs_paused',
  },
  'run:resumed': {
    words: ({ data }, say) => `goes on, by ${byWords(data)}: it stood for ${say.duration(data.stood_ms)}`,
    tone: 'busy',
    fold: moveOn,
  },
  'run:completed': { ...runEnd('completed', 'good'), metric: 'runs_completed' },
  'run:partial': { ...runEnd('partial', 'warn'), metric: 'runs_partial' },
  'run:blocked': { ...runEnd('blocked', 'warn'), metric: 'runs_blocked' },
  'run:failed': { ...runEnd('failed', 'bad'), metric: 'runs_failed' },
  'run:cancelled': { ...runEnd('cancelled', 'quiet'), metric: 'runs_cancelled' },
  'run:iterated': { ...runEnd('iterated', 'quiet'), metric: 'runs_iterated' },
  'block:ready': {
    words: () => 'may start: everything before it is done',
    quiet: true,
    fold: (draft, event) => changeBlock(draft, event, { state: 'ready' }),
  },
  'block:started': {
    words: ({ attempt = 1, data }) => {
      const items = itemsWords(data.items)
      const child = data.child === undefined ? '' : `, done by ${data.child}`
      return `${attempt === 1 ? 'started' : `attempt ${attempt} started`}${items}${child}`
    },
    fold: (draft, event) => {
      const block = enterAttempt(draft, event)
      changeBlock(draft, event, { ...runningChange(event), started_at: block.started_at ?? event.at })
      startStep(draft, event)
    },
    item: 'running',
  },
  'step:started': { words: () => 'its code began to work', quiet: true },
  'step:progress': {
    words: ({ data: { fraction, note } }) => `${Math.round(fraction * 100)} %${note === '' ? '' : `: ${note}`}`,
    fold: (draft, event) => {
      enterAttempt(draft, event)
      changeBlock(draft, event, { progress: event.data })
    },
  },
  'block:output': {
    words: ({ data: { outputs, provider, model, latency_ms, note } }, say) => {
      const ports = Object.entries(outputs).map(([port, { bytes }]) => `${port} (${say.bytes(bytes)})`)
      const who = provider === model ? provider : `${provider} ${model}`
      const said = note === undefined ? '' : `; ${note}`
      return `${who} gave ${ports.join(', ') || 'nothing'} in ${say.duration(latency_ms)}${said}`
    },
    fold: foldOutput,
    used: ({ tokens_in, tokens_out, ...price }) => ({ tokens_in, tokens_out, ...priceIn(price) }),
    // Days that a block waited are no time of a provider, nor is that of all turns and calls of an agent together.
    metric: ({ provider, ...said }) => (NO_PROVIDERS.has(provider) ? NOT_COUNTED : { provider_ms: said.latency_ms }),
  },
  'block:gate': {
    words: ({ data: { gate, type, phase, status, reason, version } }) => {
      const by = version === undefined ? '' : ` (${type}, version ${version.slice(0, 12)})`
      return `${phase === 'pre' ? 'pre-gate' : 'gate'} ${gate}${by} ${status}: ${reason}`
    },
    fold: (draft, event) => {
      const { gates } = enterAttempt(draft, event)
      changeBlock(draft, event, { gates: withVerdict(gates, event.data) })
    },
    used: spent,
    metric: ({ status }) => ({ [status === 'passed' || status === 'waived' ? 'gates_passed' : 'gates_failed']: 1 }),
  },
  'block:retrying': {
    words: ({ at, data: { due_at, reason } }, say) => {
      const wait = Date.parse(due_at) - Date.parse(at)
      return `tries again ${wait > 0 ? `in ${say.duration(wait)}` : 'at once'}: ${reason}`
    },
    tone: 'warn',
    fold: (draft, event) => {
      const { code, reason, due_at } = event.data
      enterAttempt(draft, event)
      changeBlock(draft, event, {
        state: 'retrying',
        error: { code, reason },
        due_at,
        ...countUnchargedAttempt(draft, event, code),
      })
      endStep(draft, event, 'failed')
    },
    item: 'retrying',
    used: spent,
    metric: ({ code }) => ({ blocks_retried: 1, provider_throttles: code === 'provider_throttled' ? 1 : 0 }),
  },
  'block:asked': {
    words: ({ data: { about, reason } }) => `asks a person about ${ASKED[about]}: ${reason}`,
    tone: 'wait',
    fold: (draft, event) => {
      enterAttempt(draft, event)
      changeBlock(draft, event, { state: 'paused_approval' })
    },
    item: 'paused_approval',
    used: spent,
  },
  'block:resumed': {
    words: () => 'goes on after a yes',
    fold: (draft, event) => changeBlock(draft, event, runningChange(event)),
    item: 'running',
  },
  'block:waiting': {
    words: ({ data }, say) => `waits for ${waitWords(data)} until ${say.moment(data.until)}`,
    tone: 'wait',
    fold: (draft, event) => {
      const { inputs_ref: _, after_at: __, after_id: ___, ...wait } = event.data
      changeBlock(draft, event, { wait: { ...wait, since: event.at } })
    },
    item: 'running',
  },
  'block:match_failed': {
    words: ({ data: { event_id, reason } }) => `event ${event_id} is no match: ${reason}`,
    tone: 'warn',
  },
  'block:woken': {
    words: ({ data }) => WOKEN[data.by](data),
    fold: (draft, event) => {
      const { wait } = draft.blocks.get(event.block_id ?? '') ?? {}
      if (wait !== undefined)
        changeBlock(draft, event, { wait: { ...wait, ended_by: event.data.by, ended_at: event.at } })
    },
    item: 'running',
  },
  'block:completed': {
    words: ({ data: { cached_from } }) =>
      cached_from === undefined ? 'completed' : `completed: kept result of ${cached_from}`,
    fold: (draft, event) => {
      const { cached_from } = event.data
      const from = cached_from === undefined ? {} : { cached_from }
      changeBlock(draft, event, { state: 'completed', ended_at: event.at, ...from })
      endStep(draft, event, 'completed')
    },
    item: 'completed',
    used: spent,
    metric: 'blocks_completed',
  },
  'block:failed': {
    words: ({ data }) => `failed: ${data.reason}`,
    tone: 'bad',
    fold: (draft, event) => {
      const { code, reason } = event.data
      const tries = countUnchargedAttempt(draft, event, code)
      changeBlock(draft, event, { state: 'failed', ended_at: event.at, error: { code, reason }, ...tries })
      endStep(draft, event, 'failed')
      endItems(draft, event)
    },
    item: 'failed',
    used: spent,
    metric: 'blocks_failed',
  },
  'block:skipped': {
    words: ({ data: { because, condition } }) =>
      condition === undefined
        ? `skipped because of ${because.join(', ')}`
        : `skipped, as its "${condition}" is not true`,
    fold: (draft, event) => changeBlock(draft, event, { state: 'skipped', ended_at: event.at, ...event.data }),
  },
  'block:cancelled': { words: ({ data }) => `cancelled: ${data.reason}`, fold: cancelBlock, used: spent },
  'block:rerouted': {
    words: ({ data: { to, reset, bounce, max, reason } }) =>
      `sent back to ${to} (bounce ${bounce} of ${max}; again: ${reset.join(', ')}): ${reason}`,
    tone: 'warn',
    fold: (draft, { data }) => {
      for (const id of data.reset) resetBlock(draft, id, data.epoch)
    },
  },
  'approval:requested': {
    words: ({ data }, say) => {
      const who = data.approvers.length === 0 ? '' : ` (${data.approvers.join(', ')})`
      return `${approvalRequestWords(data)}${who} until ${say.moment(data.expires_at)}`
    },
    tone: 'wait',
    fold: openApproval,
    used: spent,
    metric: 'approvals_requested',
  },
  'approval:decided': {
    words: ({ data }, say) => decisionWords(data, say.duration(data.waited_ms)),
    tone: 'wait',
    fold: decideApproval,
    // A yes that is not enough leaves the question open.
    metric: ({ decision, have, need }) => ({ approvals_decided: decision === 'reject' || have >= need ? 1 : 0 }),
  },
  'approval:refused': { words: ({ data }) => refusedDecisionWords(data), tone: 'warn' },
  'approval:expired': {
    words: ({ data }) => `nobody decided in time: ${EXPIRED[data.on_timeout]}`,
    tone: 'warn',
    fold: (draft, event) =>
      closeApproval(draft, event, event.data.approval_id, { status: 'expired', decided_at: event.at }),
    metric: 'approvals_expired',
  },
  'approval:reminded': {
    words: ({ data }) => `reminder ${data.n}: nobody decided yet`,
    fold: ({ approvals }, { data: { approval_id, n } }) => {
      const asked = approvals.get(approval_id)
      if (asked !== undefined) approvals.set(approval_id, { ...asked, reminded: n })
    },
  },
  'approval:escalated': {
    words: ({ data }) => `escalated: ${data.to.join(', ')} may decide too`,
    fold: ({ approvals }, { data: { approval_id, to } }) => {
      const asked = approvals.get(approval_id)
      if (asked !== undefined) approvals.set(approval_id, { ...asked, escalated_to: to })
    },
  },
  'budget:reserved': {
    words: ({ data }, say) =>
      `sets aside at most ${counted(data.tokens)} tokens, ${say.usd(data.usd_micros / 1_000_000)}`,
    quiet: true,
  },
  // What it means for the block is told by the event that ends the attempt.
  'budget:exceeded': {
    words: ({ data: { of, cap, wanted } }, say) => {
      const inUnit = (amount: number) =>
        of.endsWith('tokens') ? `${counted(amount)} tokens` : say.usd(amount / 1_000_000)
      return `would go over the cap of the ${of.split('_')[0]}: ${inUnit(wanted)} wanted, ${inUnit(cap)} allowed`
    },
    quiet: true,
    tone: 'bad',
    metric: 'budgets_exceeded',
  },
  'spending:near': {
    words: ({ data: { cap, period, tokens, cap_tokens, usd_micros, cap_usd_micros } }, say) => {
      const money = (micros: number) => say.usd(micros / 1_000_000)
      const used = [
        ...(usd_micros === undefined ? [] : [`${money(usd_micros)} of ${money(cap_usd_micros ?? 0)}`]),
        ...(tokens === undefined ? [] : [`${counted(tokens)} of ${counted(cap_tokens ?? 0)} tokens`]),
      ]
      return `spending cap ${cap} of ${period} is nearly used up${used.length === 0 ? '' : `: ${used.join(', ')}`}`
    },
    tone: 'bad',
  },
  'goal:evaluated': {
    // An event of an earlier version has no more than how many criteria are met.
    words: ({ data: { status, met, total, row, attempt, final_status, action } }) => {
      const criteria = total === 0 ? status : `${status}, ${met} of ${total} criteria`
      const end = final_status === undefined ? '' : `; ${row}: ${final_status}, next ${action ?? 'none'}`
      return `goal, attempt ${attempt}: ${criteria}${end}`
    },
    tone: 'busy',
    fold: (draft, { data }) => {
      draft.run = { ...draft.run, goal: data }
    },
  },
  'research:requested': { words: ({ data }) => `the question is asked${tokenWords(data.tokens)}` },
  'research:classified': {
    words: ({ data }) => `the question is understood${tokenWords(data.tokens)}`,
    ...stageDone('nl_classify'),
  },
  'research:routed': {
    words: ({ data }) => `the way to search is chosen: ${data.action ?? 'none'}${tokenWords(data.tokens)}`,
    ...stageDone('route_search'),
  },
  'research:executed': {
    words: ({ data }) => `sub-queries ran${tokenWords(data.tokens)}`,
    ...stageDone('execute_subqueries'),
  },
  'research:assessed': {
    words: ({ data }) =>
      `what was found is ${data.sufficient === true ? 'enough' : 'not enough'}${tokenWords(data.tokens)}`,
    ...stageDone('assess_sufficiency'),
  },
  'research:synthesized': {
    words: ({ data }) => `the answer is written${tokenWords(data.tokens)}`,
    ...stageDone('synthesize_answer'),
  },
  'research:continued': { words: ({ data }) => `whoever asked was told${tokenWords(data.tokens)}` },
  'context:patched': {
    words: ({ data }) => `shared context changed to version ${data.version}: ${data.keys.join(', ')}`,
  },
}

/** Of a type this version does not know there is none. */
export function eventRow<T extends EventType>({ type }: { readonly type: T }): AnyRow | undefined {
  // A row takes events of its own type alone, and it was found by the type of the event.
  return Object.hasOwn(EVENT_ROWS, type) ? (EVENT_ROWS[type] as unknown as AnyRow) : undefined
}

/** A row for whoever has an event and its row. */
interface AnyRow extends Pick<EventRow<EventType>, 'quiet' | 'tone' | 'item' | 'ends' | 'stage'> {
  readonly words: (event: RunEvent, say: Say) => string
  readonly fold?: (draft: Draft, event: RunEvent) => void
  readonly used?: (data: NewEvent['data']) => UsedByCalls | undefined
  readonly metric?: string | ((data: NewEvent['data']) => Readonly<Record<string, number>>)
}

/** The types that end a run. */
export const RUN_ENDS = Object.keys(EVENT_ROWS).filter((type) => isRunEnd(type))

export function isRunEnd(type: string): boolean {
  return eventRow({ type: type as EventType })?.ends !== undefined
}

/** What records a stage of the research chain. */
export type StageEvent = EventOf<Exclude<EventType & `research:${string}`, 'research:requested' | 'research:continued'>>

export function isStageEvent(event: RunEvent): event is StageEvent {
  return eventRow(event)?.stage !== undefined
}

/** One event as one line for people; of a type this version does not know, the name of the type. */
export function eventWords(event: RunEvent, say: Say): string {
  return (eventRow(event)?.words(event, say) ?? event.type).replace(/\s+/g, ' ')
}

function runEnd<S extends RunState>(ends: S, tone: Tone) {
  return {
    words: ({ data: { reason, next_run } }: EventOf<RunEnd>) =>
      `run ${ends}: ${reason}${next_run === undefined ? '' : `; goes on as ${next_run}`}`,
    tone,
    ends,
    fold: (draft: Draft, event: EventOf<RunEnd>) => endRun(draft, ends, event),
  }
}

function stageDone(stage: Stage) {
  return {
    stage,
    fold: (draft: Draft, { at, data: { n, ref } }: StageEvent) => {
      draft.run = { ...draft.run, stage: { stage, n, at, ref } }
    },
    used: ({ tokens, ...price }: StageEvent['data']) => ({ tokens_in: tokens, tokens_out: 0, ...priceIn(price) }),
  }
}

type Price = Pick<UsedByCalls, 'usd_micros' | 'unpriced_tokens'>

function priceIn({ usd_micros, unpriced_tokens }: Price): Price {
  return {
    ...(usd_micros === undefined ? {} : { usd_micros }),
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
  }
}

/** How a run began: of which document, by whom, and from which other run. */
function startedWords(data: EventData<'run:started'>): string {
  const from = ORIGINS.flatMap(([member, words]) => {
    const run = data[member]
    return run === undefined ? [] : [`${words} ${run}`]
  })
  const parent = data.parent === undefined ? [] : [`for block ${data.parent.block_id} of ${data.parent.run_id}`]
  const queued = data.queued === true ? ['waits for a place'] : []
  const labels = data.labels === undefined ? [] : [labelledWords(data.labels)]
  return [`run of ${data.dag_name} started by ${data.starter}`, ...parent, ...from, ...labels, ...queued].join(', ')
}

function byWords({ by, reason, parent }: EventData<'run:paused'>): string {
  return `${by}${parent === undefined ? '' : `, with run ${parent}`}${reason === undefined ? '' : ` (${reason})`}`
}

function labelledWords({ first, count }: NonNullable<EventData<'run:started'>['labels']>): string {
  const more = count > first.length ? ` and ${count - first.length} more` : ''
  return `labels ${first.join(' ')}${more}`
}

/** Of an agent nobody knows how many turns and calls there will be. */
function itemsWords(items: EventData<'block:started'>['items']): string {
  if (items === undefined) return ''
  const { count, turn } = items
  if (turn !== undefined) return turn === 0 ? '' : ` with turn ${turn + 1}`
  return ` on ${count} item${count === 1 ? '' : 's'}`
}

const ORIGINS = [
  ['continues', 'going on from'],
  ['retry_of', 'retrying'],
  ['iterates', 'in place of'],
  ['pivots', 'next attempt at the goal of'],
  ['follows', 'fired by'],
] as const

const ASKED = {
  pre_gates: 'its pre-gates',
  post_gates: 'its post-gates',
  budget: 'the budget of the run',
  lost_step: 'work that was lost in the middle',
  call: 'the call of a tool',
} as const
/** `event "order.paid" of key 4711`, for people. */
export function waitWords({ for: kind, name, key }: Pick<EventData<'block:waiting'>, 'for' | 'name' | 'key'>): string {
  if (kind === 'time') return 'its time'
  return kind === 'callback' ? 'its callback' : `event ${name}${key === undefined ? '' : ` of key ${key}`}`
}

const WOKEN: Readonly<Record<EventData<'block:woken'>['by'], (data: EventData<'block:woken'>) => string>> = {
  time: () => 'its time has come',
  event: ({ event_id }) => `event ${event_id} came`,
  callback: () => 'its callback came',
  limit: () => 'more events are kept for it than it looks at',
}

const EXPIRED = { reject: 'counts as a no', fail: 'the block fails', approve: 'counts as a yes' } as const

function tokenWords(tokens: number): string {
  return tokens === 0 ? '' : ` (${counted(tokens)} tokens)`
}

function counted(count: number): string {
  return count.toLocaleString('en')
}
