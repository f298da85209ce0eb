import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { agentCounts, agentItemWords, readAgentItem } from '../../../shared/runs/turns-and-calls.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import { costWords, count, durationWords } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine, plainText } from '../terminal/text.ts'

interface TranscriptOptions extends TargetOptions {
  readonly fromTurn?: number
  readonly pass?: number
}

export function addTranscript(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('transcript', hidden).description('what an agent said, called and was told, turn by turn'),
  )
    .argument('<run>')
    .argument('<block>', 'id of a block whose agent has tools')
    .option('--from-turn <n>', 'only this turn and those after it', wholeNumber(1, 200))
    .option(
      '--pass <n>',
      'of a block that was sent back: of this pass, from 1 (default: the newest)',
      wholeNumber(1, 1_000),
    )
    .action((runId: string, block: string, options: TranscriptOptions) => transcript(session, runId, block, options))
}

const string = z.string()
const number = z.number()

const item = {
  item: z.int(),
  state: string,
  attempts: z.int(),
  started_at: string.optional(),
  ended_at: string.optional(),
  latency_ms: number.optional(),
  tokens_in: number,
  tokens_out: number,
  usd: number.nullable(),
  unpriced_tokens: number.optional(),
  error: z.looseObject({ code: string, reason: string }).optional(),
}

const CallSchema = z.looseObject({
  call: z.int(),
  ...item,
  use: string,
  arguments: string.optional(),
  result: string.optional(),
  result_cut: number.optional(),
  gates: z.array(z.looseObject({ gate: string, status: string, reason: string })).readonly(),
  approvals: z
    .array(
      z.looseObject({
        status: string,
        decided_by: string.optional(),
        feedback: string.optional(),
        edits: z.unknown().optional(),
      }),
    )
    .readonly()
    .optional(),
})
export type TranscriptCall = z.infer<typeof CallSchema>

const TurnSchema = z.looseObject({
  turn: z.int(),
  ...item,
  from_run: string.optional(),
  told: string.optional(),
  told_cut: number.optional(),
  text: string.optional(),
  text_cut: number.optional(),
  provider: string.optional(),
  model: string.optional(),
  calls: z.array(CallSchema).readonly(),
})
type TranscriptTurn = z.infer<typeof TurnSchema>

/** What the CLI shows of it (shared/api/transcript-route.ts has all); a newer server may say more. */
const PageSchema = z.looseObject({
  turns: z.array(TurnSchema).readonly(),
  next_turn: z.int().optional(),
})
type Transcript = z.infer<typeof PageSchema>

async function transcript(session: Session, runId: string, block: string, options: TranscriptOptions): Promise<void> {
  const { url, json, fromTurn = 1, pass } = options
  const target = chooseTarget(session, url)
  const place = { runId, block, ...(pass === undefined ? {} : { epoch: pass - 1 }) }
  const { turns, ...rest } = await fetchTranscript(target, place, fromTurn)
  if (json === true) return session.say(jsonText({ ...rest, turns }, 2))
  for (const line of turns.flatMap(turnLines)) session.say(line)
  if (turns.length === 0) session.say(`No turn of block ${block} has begun.`)
}

/** All of it, as `run transcript` prints it. */
export async function transcriptLines(target: Target, place: Place): Promise<readonly string[]> {
  const { turns } = await fetchTranscript(target, place, 1)
  return turns.flatMap(turnLines)
}

interface Place {
  readonly runId: string
  readonly block: string
  readonly epoch?: number
}

/** Every turn from the one named, page by page. */
async function fetchTranscript(target: Target, place: Place, from: number): Promise<Transcript> {
  const turns: TranscriptTurn[] = []
  for (let next = from; ; ) {
    const page = await fetchPage(target, place, { turn: next, limit: PAGE })
    turns.push(...page.turns)
    const { next_turn, ...answer } = page
    if (next_turn === undefined || next_turn <= next) return { ...answer, turns }
    next = next_turn
  }
}

const PAGE = 50

function fetchPage(
  target: Target,
  { runId, block, epoch }: Place,
  { turn, limit }: { readonly turn: number; readonly limit: number },
): Promise<Transcript> {
  const path = { run_id: runId, block_id: block }
  const query = { turn, limit, ...(epoch === undefined ? {} : { epoch }) }
  return callApi(target, PageSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/blocks/{block_id}/transcript', { params: { path, query } }),
  )
}

/** A turn with all that was said: its calls a line each, and what came of them below. */
function turnLines(turn: TranscriptTurn): readonly string[] {
  const { told, text, calls, from_run, provider, model, error, state } = turn
  const who = provider === undefined ? [] : [`${oneLine(provider)} ${oneLine(model ?? '')}`]
  const kept = from_run === undefined ? [] : [`kept of ${from_run}`]
  const facts = [...who, ...(state === 'completed' ? [] : [stateWords(turn)]), ...factsOf(turn), ...kept]
  return [
    `--- turn ${turn.turn}: ${facts.join(', ')}`,
    ...(told === undefined ? [] : indented('told: ', told, turn.told_cut)),
    ...(text === undefined || text === '' ? [] : indented('', text, turn.text_cut)),
    ...(error === undefined ? [] : [`  ${oneLine(error.reason)}`]),
    ...calls.flatMap(callWithResult),
  ]
}

function factsOf(item: TranscriptTurn | TranscriptCall): readonly string[] {
  const { started_at, ended_at, tokens_in, tokens_out } = item
  const tokens = tokens_in + tokens_out
  const price = costWords({ tokens, usd: item.usd, unpriced_tokens: item.unpriced_tokens })
  const took =
    item.latency_ms ?? (ended_at === undefined ? undefined : Date.parse(ended_at) - Date.parse(started_at ?? ''))
  return [
    ...(took === undefined || Number.isNaN(took) ? [] : [milliseconds(took)]),
    ...(tokens === 0 ? [] : [count(tokens, 'token')]),
    ...(price === '' ? [] : [price]),
  ]
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : durationWords(ms)
}

function indented(before: string, text: string, left: number | undefined): readonly string[] {
  const more = left === undefined ? [] : [`… ${count(left, 'more character')}`]
  return [...`${before}${text}`.split('\n'), ...more].map((line) => `  ${plainText(line)}`)
}

/** Characters of arguments on the line of a call. */
const SHORT = 100

/** `✓ call 2 of turn 3: artifact.write {"name":"a.md"}: completed in 12 ms, $0.0010`. */
export function callLine(turn: number, call: TranscriptCall): string {
  const { use, state, error, result } = call
  const args = cut(oneLine(call.arguments ?? ''), SHORT)
  const why = state === 'completed' || error === undefined ? '' : `: ${oneLine(error.reason)}`
  const facts = factsOf(call)
  const took = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  const gave = state !== 'completed' || result === undefined ? '' : ` → ${cut(oneLine(result), SHORT)}`
  return `  ${ICONS[state] ?? ' '} ${turn}.${call.call} ${oneLine(use)} ${args} ${stateWords(call)}${took}${why}${gave}`
}

const ICONS: Readonly<Record<string, string>> = {
  pending: '·',
  running: '●',
  retrying: '↻',
  paused_approval: '?',
  completed: '✓',
  refused: '✗',
  failed: '✗',
  cancelled: '■',
}

function stateWords({ state, attempts }: Pick<TranscriptTurn, 'state' | 'attempts'>): string {
  const words = state === 'paused_approval' ? 'waits for a person' : state
  return attempts > 1 ? `${words} at try ${attempts}` : words
}

/** What people said of it, and what came back, below its line. */
function callWithResult(call: TranscriptCall): readonly string[] {
  const { turn } = readAgentItem(call.item)
  const { result: _, ...line } = call
  const asked = (call.approvals ?? []).map(({ status, decided_by, feedback, edits }) => {
    const by = decided_by === undefined ? '' : ` by ${decided_by}`
    const changed = edits === undefined ? '' : ` with ${JSON.stringify(edits)}`
    return `    asked a person: ${oneLine(`${status}${by}${changed}${feedback === undefined ? '' : `: ${feedback}`}`)}`
  })
  const failed = call.gates.flatMap(({ gate, status, reason }) =>
    // What a person was asked stands below, with the answer.
    status === 'passed' || (gate === 'approval' && asked.length > 0)
      ? []
      : [`    gate ${oneLine(`${gate} ${status}: ${reason}`)}`],
  )
  const gave = call.result === undefined ? [] : indented('→ ', call.result, call.result_cut).map((one) => `  ${one}`)
  return [callLine(turn + 1, line), ...failed, ...asked, ...gave]
}

/** Turns whose calls `run status` lists. */
const SHOWN_TURNS = 10

/** Of each block that acts the calls of its last turns, a line each, and the command that shows all. */
export async function callLines(
  target: Target,
  { run: { run_id }, blocks }: RunAnswer,
  command: (words: string) => string,
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const [id, block] of Object.entries(blocks)) {
    if ((agentCounts(block)?.calls ?? 0) === 0) continue
    const newest = Math.max(...Object.keys(block.items ?? {}).map((item) => readAgentItem(Number(item)).turn))
    const from = Math.max(1, newest + 2 - SHOWN_TURNS)
    const { turns } = await fetchTranscript(target, { runId: run_id, block: id }, from)
    const since = from === 1 ? '' : ` since turn ${from}`
    lines.push(`Calls of ${oneLine(id)}${since} (${command(`run transcript ${run_id} ${id}`)}):`)
    lines.push(...turns.flatMap(({ turn, calls }) => calls.map((call) => callLine(turn, call))))
  }
  return lines
}

/** One call as a line, when it has ended; undefined where the server does not know it. */
export async function endedCallLine(target: Target, runId: string, block: string, item: number) {
  const { turn, call: n } = readAgentItem(item)
  const { turns } = await fetchPage(target, { runId, block }, { turn: turn + 1, limit: 1 })
  const call = turns[0]?.calls.find(({ call }) => call === n)
  return call === undefined
    ? `${block}: ${agentItemWords(item)} ended`
    : `${oneLine(block)}:${callLine(turn + 1, call).slice(1)}`
}
