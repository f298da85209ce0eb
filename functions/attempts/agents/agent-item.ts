import { type CallToMake, callBlock, type Obstacle } from '../../../shared/agents/agent-blocks.ts'
import type { ActingBlock } from '../../../shared/agents/agent-items.ts'
import { toolNamed, unknownTool } from '../../../shared/agents/transcript.ts'
import { type AskedCall, TURN_PORT, type TurnRecord, TurnRecordSchema } from '../../../shared/agents/turn-record.ts'
import type { ToolUse } from '../../../shared/dag/dag.ts'
import { evaluateExpression, parseExpression } from '../../../shared/dag/expression.ts'
import { replaceReferences } from '../../../shared/dag/template.ts'
import { Fault } from '../../../shared/errors.ts'
import { readSchemaAnswer } from '../../../shared/gates/schema-limits.ts'
import { isolateFor } from '../../../shared/ports/isolate.ts'
import { approvalEpoch } from '../../../shared/runs/ids.ts'
import { laneKey, readOrdinal } from '../../../shared/runs/lane.ts'
import { callItem, questionItem, readAgentItem, turnItem } from '../../../shared/runs/turns-and-calls.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { jsonTextProblem } from '../../../shared/text/strict-json.ts'
import { listed, quoted } from '../../../shared/text/wording.ts'
import { freshItemProjections, readPortValues } from '../../record/projections.ts'
import { type BlockCall, isStale, readHead } from '../block-call.ts'
import { mayHaveItems } from '../inputs.ts'

/** The call as its item has it: that of a tool is told by the turn that asked for it. */
export async function openAgentItem(call: BlockCall, whole: ActingBlock): Promise<BlockCall> {
  const { turn, call: n } = readAgentItem(call.item ?? 0)
  if (n === undefined) return { ...call, acting: { whole, turn } }
  // Its block was stopped: nothing is left to do for it, and its turn is not there any more.
  if (!mayHaveItems(call)) return { ...call, acting: { whole, turn } }
  const record = await readTurn(call, turn)
  const asked = record?.calls[n - 1]
  if (record === undefined || asked === undefined) {
    const now = await readHead(call)
    // Its turn left with the end of the block, or is of a pass before: nothing is left to do for it.
    if (!mayHaveItems(now) || isStale(now) || now.head.state !== 'running') return { ...now, acting: { whole, turn } }
    const message = `Machine and store differ: block "${whole.id}" has no call ${n} in turn ${turn + 1}.`
    throw new Fault('Bug', 'no_such_item', message)
  }
  const tool = toolNamed(whole.agent.acting, asked.tool) ?? unknownTool(asked.tool)
  const made = await callToMake(call, { whole, record, n, tool, asked })
  const tainted = record.tainted || tool.untrusted
  return {
    ...call,
    block: callBlock(whole, tool, made),
    acting: {
      whole,
      turn,
      call: { n, tool, asked, tainted, args: made.args, children: childCalls(whole, turn, record) },
    },
  }
}

function childCalls({ agent }: ActingBlock, turn: number, { calls }: TurnRecord): readonly number[] {
  return calls.flatMap(({ tool }, index) => {
    return toolNamed(agent.acting, tool)?.kind === 'dag' ? [callItem(turn, index + 1)] : []
  })
}

/** What a turn of this pass came to; undefined: it has not completed. */
export async function readTurn(call: BlockCall, turn: number): Promise<TurnRecord | undefined> {
  const { world, run, block, epoch } = call
  const item = turnItem(turn)
  const lane_key = laneKey({ block: block.index, item })
  const lane = (await world.runs.head(run, [lane_key]))?.lanes[lane_key]
  if (lane === undefined || readOrdinal(lane).epoch !== epoch) return undefined
  if (readOrdinal(lane).outcome !== 'completed') return undefined
  const projection = (await freshItemProjections(world, run, block.index, new Map([[item, lane]]))).get(item)
  const values = await readPortValues(world, run.tenant, projection?.outputs ?? {})
  return TurnRecordSchema.parse(values[TURN_PORT])
}

interface Asking {
  readonly whole: ActingBlock
  readonly record: TurnRecord
  readonly n: number
  readonly tool: ToolUse
  readonly asked: AskedCall
}

/** Its arguments, with what a person changed of them, and what stands in its way. */
async function callToMake(call: BlockCall, asking: Asking): Promise<CallToMake> {
  const { whole, record, n, tool, asked } = asking
  const read = readArguments(asked.arguments)
  if ('problem' in read) return { args: {}, obstacles: [refusal('arguments', read.problem)] }
  const edits = await editsOf(call)
  // What a person fills into a form is the answer.
  const args = tool.use === 'ask_person' ? read.args : { ...read.args, ...edits }
  const wrong = await argumentProblem(call, asking, args)
  if (wrong !== undefined) return { args, obstacles: [refusal('arguments', wrong)] }
  const before = (record.called[tool.name] ?? 0) + earlierCalls(record, n, tool)
  if (tool.max_calls !== undefined && before >= tool.max_calls) {
    const reason = `${tool.name} was called ${before} times, and may be called ${tool.max_calls} times`
    return { args, obstacles: [refusal('max_calls', reason)] }
  }
  const isEdited = Object.keys(edits).length > 0
  const asks = isEdited ? [] : obstaclesThatAsk(whole, record, { tool, args, allowed: isAllowedForRest(call, tool) })
  return { args, obstacles: asks, ...(tool.use === 'ask_person' ? { fields: formFields(args) } : {}) }
}

function refusal(name: string, reason: string): Obstacle {
  return { name, reason, on_fail: 'fail' }
}

function earlierCalls({ calls }: TurnRecord, n: number, { name }: ToolUse): number {
  return calls.slice(0, n - 1).filter(({ tool }) => tool === name).length
}

type Arguments = { readonly args: Readonly<Record<string, Json>> } | { readonly problem: string }

/** Nothing at all is an object without members: some models send that. */
function readArguments(text: string): Arguments {
  if (text.trim() === '') return { args: {} }
  const problem = jsonTextProblem(text, 1)
  if (problem !== undefined) return { problem: `the arguments are not parsed, since ${problem.text}` }
  try {
    const value = JSON.parse(text) as Json
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { args: value as Readonly<Record<string, Json>> }
    }
    return { problem: 'the arguments must be one JSON object' }
  } catch (error) {
    return { problem: `the arguments are no JSON: ${error instanceof Error ? error.message : 'unreadable'}` }
  }
}

/** Why the tool is not called with these, or cannot be called at all. */
async function argumentProblem(
  { world, run }: BlockCall,
  { whole, tool, asked }: Asking,
  args: Readonly<Record<string, Json>>,
): Promise<string | undefined> {
  const { tools } = whole.agent.acting
  if (!tools.includes(tool)) {
    return `there is no tool ${quoted(asked.tool)}; tools are ${listed(tools.map(({ name }) => name))}`
  }
  if (tool.pin === undefined) return undefined
  const isolate = isolateFor(world.isolate, { tenant: run.tenant })
  const program = withoutDialect(tool.pin.input_schema)
  const checked = readSchemaAnswer(await isolate.run('json_schema', { program, input: args }))
  if (!checked.ok) return `the arguments could not be checked: ${checked.message}`
  return checked.valid ? undefined : `the arguments do not fit: ${checked.errors.slice(0, 5).join('; ')}`
}

/** Many servers say draft-07, and write what every later draft reads the same. */
function withoutDialect(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'))
}

interface Wanted {
  readonly tool: ToolUse
  readonly args: Readonly<Record<string, Json>>
  /** A person let the tool be called for the rest of the run. */
  readonly allowed: boolean
}

/** One that was asked about itself stays asked about. */
function isAllowedForRest({ head, block, item }: BlockCall, { use }: ToolUse): boolean {
  const wasAsked = Object.entries(head.approvals).some(
    ([id, of]) => of.block === block.index && questionItem(id) === item,
  )
  if (wasAsked) return false
  return Object.values(head.approvals).some(
    ({ rest, tool, status }) => rest === true && tool === use && status === 'approved',
  )
}

/** What a person has to be asked about. */
function obstaclesThatAsk(
  { agent }: ActingBlock,
  { tainted }: TurnRecord,
  { tool, args, allowed }: Wanted,
): readonly Obstacle[] {
  if (tool.use === 'ask_person') {
    return [{ name: 'approval', reason: String(args.question ?? ''), on_fail: 'ask' }]
  }
  const { taint } = agent.acting
  const isTainted = tainted && tool.effect === 'write' && taint !== 'off'
  const why = `${tool.name} writes, and the agent has read what others wrote`
  return [
    ...(isTainted
      ? [{ name: 'untrusted', reason: why, on_fail: taint === 'forbid' ? ('fail' as const) : ('ask' as const) }]
      : []),
    ...(!allowed && isAsked(tool, args)
      ? [{ name: 'approval', reason: approvalPrompt(tool, args), on_fail: 'ask' as const }]
      : []),
  ]
}

/** A condition that cannot be judged is one that holds: who is in doubt asks. */
function isAsked({ approval }: ToolUse, args: Readonly<Record<string, Json>>): boolean {
  if (approval === undefined) return false
  if (approval.when === undefined) return true
  const parsed = parseExpression(approval.when)
  return !parsed.ok || evaluateExpression(parsed.expression, { args }) !== false
}

/** Characters of a question; the arguments are shown beside it in full. */
const MOST_PROMPT = 1_500

function approvalPrompt({ approval, use }: ToolUse, args: Readonly<Record<string, Json>>): string {
  const text = approval?.policy.prompt ?? `Let the agent call ${use}?`
  const written = replaceReferences(text.replaceAll(/\{\{\s*args\./g, '{{inputs.'), (path) => {
    const value = valueAt(args, path)
    return value === undefined ? '(nothing)' : typeof value === 'string' ? value : canonicalJson(value)
  })
  return written.slice(0, MOST_PROMPT).toWellFormed()
}

function valueAt(args: Readonly<Record<string, Json>>, path: readonly string[]): Json | undefined {
  let value: Json | undefined = args
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, Json>>)[key]
  }
  return value
}

/** The fields a person fills, as inputs of the call: each is optional, and one of them is always there. */
function formFields({ fields }: Readonly<Record<string, Json>>): NonNullable<CallToMake['fields']> {
  const given = (Array.isArray(fields) ? fields : []) as readonly { readonly name?: Json; readonly type?: Json }[]
  const known = given.flatMap(({ name, type }) => {
    if (typeof name !== 'string') return []
    const plain = type === 'number' || type === 'boolean' ? type : 'string'
    return [[name, { type: plain, required: false }] as const]
  })
  return Object.fromEntries([['answer', { type: 'string', required: false }] as const, ...known])
}

/** What people who approved this call changed of its arguments. */
async function editsOf(call: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { world, run, head, block, item, epoch } = call
  const edits: Record<string, Json> = {}
  for (const [id, { block: of, status, edits_ref }] of Object.entries(head.approvals)) {
    const isMine = of === block.index && questionItem(id) === item && approvalEpoch(id) === epoch
    if (!isMine || status !== 'approved' || edits_ref === undefined) continue
    Object.assign(edits, JSON.parse(Buffer.from(await world.objects.get(run.tenant, edits_ref)).toString('utf8')))
  }
  return edits
}
