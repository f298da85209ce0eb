import type { RunEvent } from '../../../shared/runs/event.ts'

/**
 * The fold of a run once more, written apart from shared/runs/fold-run.ts and after another plan: nothing is carried from
 * event to event, every member is asked of the whole log. Slow, and only for lawful logs. It must stay so: code that the
 * two share would make their agreement worth nothing.
 */
export function secondFold(events: readonly RunEvent[]): object {
  const end = events.find(({ type }) => /^run:(?!started)/.test(type))
  const names = events.flatMap((event) => {
    if (event.type === 'block:rerouted') return event.data.reset
    return event.block_id !== undefined && SHOWS.test(event.type) ? [event.block_id] : []
  })
  const begun = events.find(({ type }) => type === 'run:started')
  const waits = begun?.type === 'run:started' && begun.data.queued === true
  const moves = ({ block_id, type }: RunEvent) => block_id !== undefined || /^research:/.test(type)
  const isQueued = waits && end === undefined && !events.some(moves)
  const staged = events.findLast(({ type }) => STAGES.has(type))
  return clean({
    seq: events.length,
    state: end === undefined ? 'running' : end.type.slice(4),
    ...clean({ ...pick(end?.data, ['code', 'reason', 'block_id', 'next_run', 'final_status', 'row']) }),
    started_at: begun?.at,
    ended_at: end?.at,
    queued: isQueued ? true : undefined,
    goal: events.findLast(({ type }) => type === 'goal:evaluated')?.data,
    stage: staged && { stage: STAGES.get(staged.type), ...pick(staged.data, ['n', 'ref']), at: staged.at },
    blocks: Object.fromEntries([...new Set(names)].map((id) => [id, blockOf(id, events, end)])),
    steps: stepsOf(events, end),
    approvals: approvalsOf(events, end),
    ...costOf(events, ['tokens']),
  })
}

const STAGES: ReadonlyMap<string, string> = new Map([
  ['research:classified', 'nl_classify'],
  ['research:routed', 'route_search'],
  ['research:executed', 'execute_subqueries'],
  ['research:assessed', 'assess_sufficiency'],
  ['research:synthesized', 'synthesize_answer'],
])

/** A block that only votes, budgets or reminders speak of is not shown. */
const SHOWS = /^block:|^approval:requested$/

type Data = Readonly<Record<string, unknown>>
const dataOf = (event: RunEvent | undefined): Data => (event?.data ?? {}) as Data

function blockOf(id: string, events: readonly RunEvent[], end: RunEvent | undefined): object {
  const all = events.filter((event) => event.block_id === id && event.type !== 'block:rerouted')
  const sent = events.filter((event) => event.type === 'block:rerouted' && event.data.reset.includes(id))
  const epoch = Math.max(0, ...sent.map((event) => Number(dataOf(event).epoch)))
  const since = sent.find((event) => dataOf(event).epoch === epoch)?.seq ?? 0
  const mine = all.filter(({ seq, item }) => seq > since && item === undefined)
  const attempt = Math.max(0, ...mine.filter(({ type }) => ENTERS.test(type)).map((event) => event.attempt ?? 0))
  const entered = mine.find((event) => ENTERS.test(event.type) && event.attempt === attempt)?.seq ?? since
  const newest = mine.filter(({ seq }) => seq >= entered)
  const last = mine.findLast((event) => STATES[event.type] !== undefined && !isVote(event) && !isAside(event, mine))
  const ended = last !== undefined && ENDS.test(last.type) ? last : end
  const why = newest.findLast(({ type }) => /^block:(retrying|failed|cancelled)$/.test(type))
  const begun = newest.filter(({ type }) => /^block:(started|resumed)$/.test(type))
  const { item_count, first_turn } = itemsBegunIn(begun)
  const isGivenUp = isOfItems(last)
  const items = {
    ...(isGivenUp ? Object.fromEntries(Array.from({ length: item_count ?? 0 }, (_, n) => [n, SKIPPED_ITEM])) : {}),
    ...itemsOf(all.filter(stays({ first_turn, entered, since })), ended !== undefined, isGivenUp),
  }
  return clean({
    state: stateOf(last, ended),
    attempt,
    epoch,
    untried: untriedOf(mine),
    started_at: mine.find(({ type }) => type === 'block:started')?.at,
    ended_at: ended?.at,
    outputs: dataOf(newest.findLast(({ type }) => type === 'block:output')).outputs,
    gates: standingVerdicts(newest),
    error: why === undefined ? undefined : pick(why.data, ['code', 'reason']),
    due_at: last?.type === 'block:retrying' && end === undefined ? last.data.due_at : undefined,
    wait: waitOf(newest),
    child: begun.map((event) => dataOf(event).child).findLast((child) => child !== undefined),
    item_count,
    first_turn,
    ...(last?.type === 'block:skipped' ? last.data : {}),
    ...(last?.type === 'block:completed' ? pick(last.data, ['cached_from']) : {}),
    items: Object.keys(items).length === 0 ? undefined : items,
    ...costOf(all, ['tokens_in', 'tokens_out']),
  })
}

/** What the attempt waits for or waited for, and what ended that. */
function waitOf(newest: readonly RunEvent[]): object | undefined {
  const wait = newest.findLast(({ type }) => type === 'block:waiting')
  if (wait === undefined) return undefined
  const end = newest.find(({ type, seq }) => type === 'block:woken' && seq > wait.seq)
  const told = pick(wait.data, ['for', 'until', 'name', 'key'])
  return clean({ ...told, since: wait.at, ended_by: dataOf(end).by, ended_at: end?.at })
}

/** Attempts of the pass that nobody counts as a try; undefined for none. */
function untriedOf(mine: readonly RunEvent[]): number | undefined {
  const ends = mine.filter(({ type }) => type === 'block:retrying' || type === 'block:failed')
  const some = ends.filter((event) => /^(ATTEMPT_LOST|inputs_edited)$/.test(String(dataOf(event).code)))
  return some.length || undefined
}

function stateOf(last: RunEvent | undefined, ended: RunEvent | undefined): string | undefined {
  if (ended === undefined || ended === last) return STATES[last?.type ?? ''] ?? 'pending'
  return 'cancelled'
}

/** A yes after which more are needed. */
const isVote = ({ type, data }: RunEvent) =>
  type === 'approval:decided' && data.decision !== 'reject' && data.have < data.need

/** Of a question in the middle of an attempt: it waits since block:asked, and what its items ask moves only them. */
function isAside({ type, data }: RunEvent, mine: readonly RunEvent[]): boolean {
  if (type === 'approval:requested') return data.about !== undefined && data.about !== 'dispatch'
  if (type !== 'approval:decided' && type !== 'approval:expired') return false
  const question = mine.find((one) => one.type === 'approval:requested' && isOf(one.data, data))
  const isAsk = question !== undefined && isAside(question, mine)
  return isAsk && !mine.some((one) => one.type === 'block:asked' && isOf(one.data, data))
}

/** What was waived stands at the place of the waiver. */
function standingVerdicts(events: readonly RunEvent[]): readonly object[] {
  return events.flatMap((event, i) => {
    if (event.type !== 'block:gate') return []
    const { gate, phase } = event.data
    const isWaived = events.slice(i + 1).some((one) => {
      return (
        one.type === 'block:gate' && one.data.status === 'waived' && one.data.gate === gate && one.data.phase === phase
      )
    })
    return isWaived ? [] : [event.data]
  })
}

/** What begins an attempt in a log, whichever comes first. */
const ENTERS = /^block:(started|output|gate|retrying|asked)$/
const ENDS = /^block:(completed|failed|skipped|cancelled)$/
const STATES: Readonly<Record<string, string>> = {
  'block:ready': 'ready',
  'block:started': 'running',
  'block:asked': 'paused_approval',
  'block:resumed': 'running',
  'block:retrying': 'retrying',
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:skipped': 'skipped',
  'block:cancelled': 'cancelled',
  'approval:requested': 'paused_approval',
  'approval:decided': 'ready',
  'approval:expired': 'ready',
}

const MOVES_ITEM = /^block:(started|completed|retrying|failed|asked|resumed)$/

function isAnswer(event: RunEvent): boolean {
  return event.type === 'approval:expired' || (event.type === 'approval:decided' && !isVote(event))
}

/** Of a list how many there are; of an agent's turns the first. */
function itemsBegunIn(begun: readonly RunEvent[]): { readonly item_count?: number; readonly first_turn?: number } {
  const lists = begun.map(
    (event) => dataOf(event).items as { readonly count: number; readonly turn?: number } | undefined,
  )
  const list = lists.findLast((one) => one !== undefined)
  if (list === undefined) return {}
  return list.turn === undefined ? { item_count: list.count } : { first_turn: list.turn }
}

/** The turns and calls of an agent stay from attempt to attempt. */
const stays =
  ({
    first_turn,
    entered,
    since,
  }: {
    readonly first_turn?: number | undefined
    readonly entered: number
    readonly since: number
  }) =>
  ({ seq }: RunEvent) =>
    first_turn === undefined ? seq >= entered : seq > since

/** Of an agent's own question: an answer to another one moves nothing of it. */
function isAbout(answer: RunEvent, { item }: RunEvent): boolean {
  const [, own] = /_i(\d+)a\d+$/.exec(String(dataOf(answer).approval_id)) ?? []
  return own === undefined || Number(own) === item
}

const isOfItems = (last: RunEvent | undefined) => last?.type === 'block:failed' && last.data.code === 'items_failed'
const GIVEN_UP = { code: 'items_failed', reason: 'not dispatched any more: too many other items failed' }
const SKIPPED_ITEM = { state: 'skipped', attempt: 0, error: GIVEN_UP }

/** An item that has not ended ends with its block, or with the run. */
function itemsOf(events: readonly RunEvent[], isOver: boolean, isGivenUp: boolean): Readonly<Record<string, object>> {
  const numbers = [...new Set(events.flatMap(({ item }) => (item === undefined ? [] : [item])))].sort((a, b) => a - b)
  return Object.fromEntries(
    numbers.flatMap((n) => {
      const last = events.findLast((event) => event.item === n && MOVES_ITEM.test(event.type))
      if (last === undefined) return []
      const state = itemState(last, events, isOver)
      const own = last.type === 'block:failed' || last.type === 'block:retrying' ? last.data : undefined
      const error = isGivenUp && state === 'cancelled' ? GIVEN_UP : own
      const calls = events.flatMap((event) =>
        event.item === n && event.type === 'block:started' ? [event.data.call] : [],
      )
      const tool = calls.findLast((call) => call !== undefined)?.use
      return [[n, clean({ state, attempt: last.attempt, tool, error: error && pick(error, ['code', 'reason']) })]]
    }),
  )
}

function itemState(last: RunEvent, events: readonly RunEvent[], isOver: boolean): string | undefined {
  if (isOver && !/completed|failed/.test(last.type)) return 'cancelled'
  const isAnswered = events.some((event) => event.seq > last.seq && isAnswer(event) && isAbout(event, last))
  return last.type === 'block:asked' && isAnswered ? 'ready' : STATES[last.type]
}

function stepsOf(events: readonly RunEvent[], end: RunEvent | undefined): readonly object[] {
  const epochOf = ({ id }: RunEvent) => Math.floor(Number(id.split('/')[1]) / 1_000_000)
  const starts = events.filter((event, i) => {
    const isSame = (one: RunEvent) => one.type === 'block:started' && keyOf(one) === keyOf(event)
    return event.type === 'block:started' && events.findIndex(isSame) === i
  })
  return starts.map((start, i) => {
    const mine = events.filter((event) => event.seq > start.seq && keyOf(event) === keyOf(start))
    const own = mine.find(({ type }) => /^block:(retrying|completed|failed|cancelled)$/.test(type))
    const whole = events.find((event) => {
      const isOfBlock = event.block_id === start.block_id && event.item === undefined && ENDS.test(event.type)
      return start.item !== undefined && isOfBlock && event.seq > start.seq && epochOf(event) === epochOf(start)
    })
    const over = own ?? whole ?? end
    const output = mine.findLast(({ type, seq }) => type === 'block:output' && seq <= (over?.seq ?? seq))
    const ports = Object.entries((dataOf(output).outputs ?? {}) as Record<string, { readonly ref: string }>)
    return clean({
      index: i + 1,
      ...pick(start, ['block_id', 'attempt', 'item']),
      epoch: epochOf(start),
      state: stepState(own, over),
      started_seq: start.seq,
      started_at: start.at,
      ended_seq: over?.seq,
      ended_at: over?.at,
      output_ref: ports.sort(([a], [b]) => (a < b ? -1 : 1))[0]?.[1].ref,
    })
  })
}

function stepState(own: RunEvent | undefined, over: RunEvent | undefined): string {
  if (own === undefined) return over === undefined ? 'running' : 'cancelled'
  return own.type === 'block:retrying' ? 'failed' : own.type.slice('block:'.length)
}

function keyOf({ id, block_id, item, attempt }: RunEvent): string {
  return `${Math.floor(Number(id.split('/')[1]) / 1_000_000)} ${attempt} ${item} ${block_id}`
}

function approvalsOf(events: readonly RunEvent[], end: RunEvent | undefined): object {
  const asked = events.flatMap((event) => (event.type === 'approval:requested' ? [event] : []))
  return Object.fromEntries(
    asked.map(({ data, block_id, at }) => {
      const answer = events.find((event) => {
        if (event.type !== 'approval:decided') return event.type === 'approval:expired' && isOf(event.data, data)
        return isOf(event.data, data) && (event.data.decision === 'reject' || event.data.have >= event.data.need)
      })
      const { digest, expires_at, approvers, quorum, approval_id, about } = data
      const question = { approval_id, block_id, digest, requested_at: at, expires_at, approvers, quorum, about }
      const stopped = events.find((one) => one.type === 'block:cancelled' && one.block_id === block_id && one.at >= at)
      const told = { ...answered(answer, stopped ?? end), ...votesOf(events, approval_id), ...tellings(events, data) }
      return [approval_id, clean({ ...question, ...told })]
    }),
  )
}

/** Of the yeses where one is not enough. */
function votesOf(events: readonly RunEvent[], id: string): object {
  const votes = events.flatMap((event) => {
    if (event.type !== 'approval:decided' || event.data.approval_id !== id || event.data.need === 1) return []
    const { by, decision } = event.data
    return decision === 'reject'
      ? []
      : [{ by: `${by.kind}:${by.id}`, ...pick(event.data, ['person', 'via', 'declared']), at: event.at }]
  })
  return votes.length === 0 ? {} : { votes }
}

function tellings(events: readonly RunEvent[], asked: { readonly approval_id: string }): object {
  const reminded = events.findLast((event) => event.type === 'approval:reminded' && isOf(event.data, asked))
  const escalated = events.find((event) => event.type === 'approval:escalated' && isOf(event.data, asked))
  return { reminded: dataOf(reminded).n, escalated_to: dataOf(escalated).to }
}

const isOf = (one: { readonly approval_id: string }, other: { readonly approval_id: string }) =>
  one.approval_id === other.approval_id

function answered(answer: RunEvent | undefined, end: RunEvent | undefined): object {
  if (answer === undefined) return { status: end === undefined ? 'pending' : 'cancelled' }
  if (answer.type !== 'approval:decided') return { status: 'expired', decided_at: answer.at }
  const { by, decision } = answer.data
  const status = decision === 'reject' ? 'rejected' : 'approved'
  const told = pick(answer.data, [
    'via',
    'declared',
    'waited_ms',
    'feedback_ref',
    'edits_ref',
    'iterate',
    'rest',
    'stop',
  ])
  const { person } = answer.data
  const who = { decided_by: `${by.kind}:${by.id}`, ...(person === undefined ? {} : { decided_person: person }) }
  return { status, ...who, decided_at: answer.at, ...told }
}

/** An output is what its call cost; other events say it in `spent`. An unknown price is none. */
function costOf(events: readonly RunEvent[], as: readonly string[]): object {
  const costs = events.flatMap((event) => {
    const told = STAGES.has(event.type) ? stageCost(dataOf(event)) : toldOf(event)
    const isRunEnd = event.type.startsWith('run:')
    return told === undefined || isRunEnd
      ? []
      : [told as { tokens_in: number; tokens_out: number; usd_micros?: number; unpriced_tokens?: number }]
  })
  const sum = (of: (cost: (typeof costs)[number]) => number) => costs.reduce((total, cost) => total + of(cost), 0)
  const sums: Readonly<Record<string, number>> = {
    tokens: sum((cost) => cost.tokens_in + cost.tokens_out),
    tokens_in: sum((cost) => cost.tokens_in),
    tokens_out: sum((cost) => cost.tokens_out),
  }
  const unknown = sum(({ usd_micros, unpriced_tokens, tokens_in, tokens_out }) =>
    unpriced_tokens !== undefined ? unpriced_tokens : usd_micros !== undefined ? 0 : tokens_in + tokens_out,
  )
  const isPriced = costs.some(({ usd_micros }) => usd_micros !== undefined)
  return {
    ...Object.fromEntries(as.map((name) => [name, sums[name]])),
    ...(isPriced ? { usd_micros: sum(({ usd_micros = 0 }) => usd_micros) } : {}),
    ...(unknown > 0 ? { unpriced_tokens: unknown } : {}),
  }
}

const toldOf = (event: RunEvent) => (event.type === 'block:output' ? event.data : dataOf(event).spent)

/** What a model read and wrote is one figure there. */
function stageCost({ tokens, ...told }: Data): object {
  return { tokens_in: tokens, tokens_out: 0, ...pick(told, ['usd_micros', 'unpriced_tokens']) }
}

function pick(of: object | undefined, names: readonly string[]): Data {
  return Object.fromEntries(Object.entries(of ?? {}).filter(([name]) => names.includes(name)))
}

/** Without members that are not there. */
function clean(of: object): object {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined))
}
