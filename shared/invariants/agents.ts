import { type ActingBlock, isActing } from '../agents/agent-items.ts'
import { toolNamed } from '../agents/transcript.ts'
import { TURN_PORT, type TurnRecord, TurnRecordSchema } from '../agents/turn-record.ts'
import type { Dag, ToolUse } from '../dag/dag.ts'
import { evaluateExpression, parseExpression } from '../dag/expression.ts'
import { type Pass, passEnd, passesOf, passName } from '../runs/block-passes.ts'
import type { RunEvent } from '../runs/event.ts'
import { approvalEpoch } from '../runs/ids.ts'
import { questionItem, readAgentItem, turnItem } from '../runs/turns-and-calls.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { defineInvariant, type RunParts } from './invariant.ts'
import { recordedValues } from './reconstruct-inputs.ts'

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

/** A turn or call of an agent that acts, in one pass of its block. */
interface ItemPass {
  readonly pass: Pass
  readonly whole: ActingBlock
  readonly turn: number
  /** Undefined: the turn itself. */
  readonly call: number | undefined
}

function itemsOf(events: readonly RunEvent[], { blocks }: Dag): readonly ItemPass[] {
  const agents = new Map(blocks.flatMap((block) => (isActing(block) ? [[block.id, block] as const] : [])))
  if (agents.size === 0) return []
  return passesOf(events).flatMap((pass) => {
    const whole = agents.get(pass.block_id)
    if (whole === undefined || pass.item === undefined) return []
    const { turn, call } = readAgentItem(pass.item)
    return [{ pass, whole, turn, call }]
  })
}

/** Of the same agent, in the same pass of its block. */
function isBeside({ pass: one }: ItemPass, { pass: other }: ItemPass): boolean {
  return one.block_id === other.block_id && one.epoch === other.epoch
}

function answerOf({ pass }: ItemPass): EventOf<'block:output'> | undefined {
  const found = pass.events.find(
    (event) => event.type === 'block:output' && Object.hasOwn(event.data.outputs, TURN_PORT),
  )
  return found?.type === 'block:output' ? found : undefined
}

export const turnsOnce = defineInvariant({
  n: 46,
  title: 'a turn of an agent whose answer is recorded is asked no more',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    return itemsOf(events, dag).flatMap((item) => {
      const answer = item.call === undefined ? answerOf(item) : undefined
      if (answer === undefined) return []
      return item.pass.events.flatMap(({ type, seq }) => {
        const isAgain = type === 'block:started' && seq > answer.seq
        return isAgain ? [`${passName(item.pass)}: event ${seq} asks again what event ${answer.seq} answered`] : []
      })
    })
  },
})

export const callsBeforeTurns = defineInvariant({
  n: 48,
  title: 'a turn of an agent begins when every call of those before it has ended, and a call when its turn has',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const items = itemsOf(events, dag)
    return items.flatMap((item) => {
      const begun = item.pass.events.find(({ type }) => type === 'block:started')
      if (begun === undefined) return []
      const open = items.filter(
        (other) => isBeside(item, other) && isBefore(other, item) && !hasEnded(other, begun.seq),
      )
      return open.map(
        ({ pass }) => `${passName(item.pass)}: event ${begun.seq} begins before ${passName(pass)} has ended`,
      )
    })
  },
})

/** A turn is behind all that came before it, a call behind its turn. */
function isBefore(other: ItemPass, { turn, call }: ItemPass): boolean {
  return other.turn < turn || (call !== undefined && other.turn === turn && other.call === undefined)
}

function hasEnded({ pass }: ItemPass, seq: number): boolean {
  const end = passEnd(pass)
  return end !== undefined && end.seq < seq
}

type Parts = Pick<RunParts, 'events' | 'dag' | 'approvals' | 'read'>

/** A call that was made, with what is recorded of who asked for it and who let it be made. */
interface Made {
  readonly item: ItemPass
  readonly tool: ToolUse
  /** What tells that it was made: the first event after which it may have had an effect. */
  readonly event: RunEvent
  readonly args: Values
  readonly record: TurnRecord
}

type Values = Readonly<Record<string, Json>>

/** Calls whose turn and arguments can be read; what is gone, 21 says. */
async function madeCalls(run: Parts): Promise<readonly Made[]> {
  const items = itemsOf(run.events, run.dag)
  const made: Made[] = []
  for (const item of items) {
    const first = item.call === undefined ? [] : firstEffects(item.pass)
    for (const event of first) {
      const found = await madeCall(run, items, item, event)
      if (found !== undefined) made.push(found)
    }
  }
  return made
}

/** Of each attempt the first event that tells of an effect. */
function firstEffects({ events }: Pass): readonly RunEvent[] {
  const effects = events.filter(({ type }) => type === 'step:started' || type === 'block:output')
  return [...new Map(effects.toReversed().map((event) => [event.attempt, event])).values()]
}

async function madeCall(
  run: Parts,
  items: readonly ItemPass[],
  item: ItemPass,
  event: RunEvent,
): Promise<Made | undefined> {
  const started = item.pass.events.find((one) => one.type === 'block:started' && one.attempt === event.attempt)
  const told = started?.type === 'block:started' ? started.data.call : undefined
  const tool = told === undefined ? undefined : toolNamed(item.whole.agent.acting, told.tool)
  const turn = items.find((one) => isBeside(one, item) && one.pass.item === turnItem(item.turn))
  const answer = turn === undefined ? undefined : answerOf(turn)
  if (told === undefined || tool === undefined || answer === undefined) return undefined
  const stored = (await readJson(run, told.args_ref)) as { readonly values?: Values } | undefined
  const values = await recordedValues(run, answer.data.outputs)
  if (stored?.values === undefined || values === undefined) return undefined
  return { item, tool, event, args: stored.values, record: TurnRecordSchema.parse(values[TURN_PORT]) }
}

async function readJson({ read }: Pick<Parts, 'read'>, ref: string): Promise<Json | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Json)
}

/** What people said yes to about a call, before it was made. */
function yesesBefore({ events }: Parts, { item: { pass }, event }: Made): readonly EventOf<'approval:decided'>[] {
  return events.filter((one): one is EventOf<'approval:decided'> => {
    if (one.type !== 'approval:decided' || one.seq > event.seq || one.block_id !== pass.block_id) return false
    const { approval_id, decision, have, need } = one.data
    const isOwn = questionItem(approval_id) === pass.item && approvalEpoch(approval_id) === pass.epoch
    return isOwn && decision !== 'reject' && have >= need
  })
}

export const approvedCalls = defineInvariant({
  n: 50,
  title:
    'a call of an agent that asks is made after a yes, with what its model wrote and that person changed, as it was shown',
  of: 'objects',
  needs: ['events', 'dag', 'approvals', 'read'],
  async check(run) {
    const wrong: string[] = []
    for (const made of await madeCalls(run)) {
      const problems = [...consentProblems(run, made), ...(await argumentProblems(run, made))]
      wrong.push(...problems.map((problem) => `${passName(made.item.pass)}: event ${made.event.seq} ${problem}`))
    }
    return wrong
  },
})

/** Questions that let a call be made; those of gates of the document let it through all that stood in its way. */
const LETS_CALL: ReadonlySet<string | undefined> = new Set(['call', 'pre_gates'])

function isLet(run: Parts, made: Made): boolean {
  const about = new Map(run.approvals.map((item) => [item.id, item.about]))
  return yesesBefore(run, made).some(({ data }) => LETS_CALL.has(about.get(data.approval_id)))
}

function consentProblems(run: Parts, made: Made): readonly string[] {
  const { tool, args, event } = made
  if (!asks(tool, args) || isLet(run, made) || isAllowedForRest(run, tool, event)) return []
  return [`calls ${tool.use}, which asks, without a yes`]
}

/** A condition that cannot be judged is one that holds. */
function asks({ approval, use }: ToolUse, args: Values): boolean {
  if (use === 'ask_person') return true
  if (approval === undefined) return false
  const parsed = approval.when === undefined ? undefined : parseExpression(approval.when)
  return parsed?.ok !== true || evaluateExpression(parsed.expression, { args }) !== false
}

/** A person let the tool be called for the rest of the run, where the document permits it. */
function isAllowedForRest({ events, approvals }: Parts, { use, approval }: ToolUse, { seq }: RunEvent): boolean {
  if (approval?.allow_rest !== true) return false
  const tools = new Map(approvals.map(({ id, tool }) => [id, tool]))
  return events.some((one) => {
    if (one.type !== 'approval:decided' || one.seq > seq || one.data.rest !== true) return false
    return tools.get(one.data.approval_id) === use
  })
}

async function argumentProblems(run: Parts, made: Made): Promise<readonly string[]> {
  const { tool, args, record, item } = made
  const asked = record.calls[(item.call ?? 0) - 1]
  const written = writtenArguments(asked?.arguments ?? '')
  if (written === undefined) return [`calls ${tool.use} with arguments that its model did not write as JSON`]
  const edits: Record<string, Json> = {}
  for (const { data } of yesesBefore(run, made)) {
    const changed = data.edits_ref === undefined ? {} : await readJson(run, data.edits_ref)
    if (changed === undefined) return []
    Object.assign(edits, changed)
  }
  // What a person fills into a form is the answer.
  const wanted = tool.use === 'ask_person' ? written : { ...written, ...edits }
  const other = canonicalJson(args) === canonicalJson(wanted)
  return [
    ...(other ? [] : [`calls ${tool.use} with other arguments than were written and approved`]),
    ...(await shownProblems(run, made, written)),
  ]
}

function writtenArguments(text: string): Values | undefined {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) as Values
  } catch {
    return undefined
  }
}

/** What the person saw is what the model wrote: its digest stands for that (13, 39). */
async function shownProblems(run: Parts, made: Made, written: Values): Promise<readonly string[]> {
  const items = new Map(run.approvals.map((item) => [item.id, item]))
  const wrong: string[] = []
  for (const { data } of yesesBefore(run, made)) {
    const item = items.get(data.approval_id)
    if (item?.about !== 'call') continue
    const shown = await recordedValues(run, item.shown)
    // `block.port` is an output of another block.
    const own = Object.entries(shown ?? {}).filter(([name]) => !name.includes('.'))
    const isOther = own.some(([name, value]) => canonicalJson(written[name] ?? null) !== canonicalJson(value))
    if (isOther) wrong.push(`calls ${made.tool.use}, of which ${item.id} showed other arguments than its model wrote`)
  }
  return wrong
}

export const taint = defineInvariant({
  n: 51,
  title: 'once an agent has read what others wrote, no tool that writes is called but as its document says (taint)',
  of: 'objects',
  needs: ['events', 'dag', 'approvals', 'read'],
  async check(run) {
    const items = itemsOf(run.events, run.dag)
    const wrong: string[] = []
    for (const made of await madeCalls(run)) {
      const problem = taintProblem(run, items, made)
      if (problem !== undefined) wrong.push(`${passName(made.item.pass)}: event ${made.event.seq} ${problem}`)
    }
    return wrong
  },
})

function taintProblem(run: Parts, items: readonly ItemPass[], made: Made): string | undefined {
  const { item, tool, record } = made
  const { taint: rule } = item.whole.agent.acting
  const hasRead = record.tainted || items.some((one) => isBeside(one, item) && one.turn < item.turn && isForeign(one))
  if (!hasRead || tool.effect === 'read' || tool.use === 'ask_person' || rule === 'off') return undefined
  if (rule === 'forbid') return `calls ${tool.use}, which writes, though taint is forbid`
  return isLet(run, made)
    ? undefined
    : `calls ${tool.use}, which writes, after what others wrote was read, without a yes`
}

/** A call that gave what others wrote. */
function isForeign({ pass, whole, call }: ItemPass): boolean {
  const started = pass.events.find(({ type }) => type === 'block:started')
  const told = started?.type === 'block:started' ? started.data.call : undefined
  if (call === undefined || told === undefined || passEnd(pass)?.type !== 'block:completed') return false
  const isTainted = pass.events.some((event) => event.type === 'block:output' && event.data.tainted === true)
  return isTainted || (toolNamed(whole.agent.acting, told.tool)?.untrusted ?? true)
}

export const frozenTools = defineInvariant({
  n: 52,
  title: 'a call of an agent is one of the tool that the run is frozen to',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    return itemsOf(events, dag).flatMap(({ pass, whole, call }) => {
      if (call === undefined) return []
      const name = pass.events.flatMap((one) => (one.type === 'block:started' ? [one.data.call?.tool ?? ''] : []))[0]
      const pin = toolNamed(whole.agent.acting, name ?? '')?.pin
      return pass.events.flatMap((event) => {
        if (event.type !== 'block:output' || event.data.provider !== 'tool' || pin === undefined) return []
        if (event.data.prompt_hash === pin.hash) return []
        return [`${passName(pass)}: event ${event.seq} is of another tool than the run is frozen to`]
      })
    })
  },
})
