import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import type { GET_BLOCK } from '../../../shared/api/run-data-routes.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { callApi, chooseTarget, fetchResponse, type Target } from '../server/api.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import { count, sizeWords } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withReadingOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine, plainText } from '../terminal/text.ts'

interface LogOptions extends TargetOptions {
  readonly attempt?: number
  readonly item?: number
}

export function addLog(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(parent.command('log', hidden).description('what the step of a block wrote, whole'))
    .argument('<run-id>')
    .argument('<block>', 'id of a block whose handler is a step')
    .option('--attempt <n>', 'of this attempt (default: the newest that wrote anything)', wholeNumber(1, 1_000_000))
    .option(
      '--item <n>',
      'of a foreach block: of this item, from 0; of an agent: 302 is call 2 of turn 4',
      wholeNumber(0, 20_000),
    )
    .action((runId: string, block: string, options: LogOptions) => printLog(session, runId, block, options))
}

/** A pipe gets it as it is stored, a terminal without what it would obey. */
async function printLog(session: Session, runId: string, block: string, options: LogOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const { attempt, log } = await findLog(target, { runId, block, ...options })
  if (options.json === true) return session.say(jsonText({ run_id: runId, block_id: block, ...attempt, log }, 2))
  const body = await fetchBody(target, log.ref)
  if (log.cut === true) session.warn(`It was longer than is kept: "[..]" stands for what is missing.`)
  if (!session.terminal) return await session.write(body)
  session.say(plainText(new TextDecoder().decode(body).replace(/\n$/, '')))
}

const LogSchema = z.looseObject({
  ref: z.string(),
  bytes: z.number(),
  lines: z.number(),
  cut: z.literal(true).optional(),
  tail: z.array(z.string()).readonly(),
})

const AttemptsSchema = z.looseObject({
  attempts: z
    .array(z.looseObject({ attempt: z.int(), epoch: z.int(), item: z.int().optional(), log: LogSchema.optional() }))
    .readonly(),
})

interface Wanted extends Pick<LogOptions, 'attempt' | 'item'> {
  readonly runId: string
  readonly block: string
}

async function findLog(target: Target, { runId, block, attempt, item }: Wanted) {
  const path = { run_id: runId, block_id: block }
  const query: z.input<typeof GET_BLOCK.query> = item === undefined ? {} : { item: String(item) }
  const { attempts } = await callApi(target, AttemptsSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/blocks/{block_id}', { params: { path, query: query as never } }),
  )
  const logs = attempts.flatMap(({ log, ...one }) => (log === undefined ? [] : [{ one, log }]))
  const found = attempt === undefined ? logs.at(-1) : logs.findLast(({ one }) => one.attempt === attempt)
  if (found !== undefined) {
    const { epoch, attempt: of, item: place } = found.one
    return { attempt: { epoch, attempt: of, ...(place === undefined ? {} : { item: place }) }, log: found.log }
  }
  const written = [...new Set(logs.map(({ one }) => one.attempt))].join(', ')
  const hint = item === undefined ? ' Of a foreach block, name an item with --item N.' : ''
  const seen =
    logs.length === 0
      ? `none of its attempts wrote one; only steps do.${hint}`
      : `attempt ${attempt} wrote none; there are logs of attempt ${written}.`
  const detail = `Cannot show the log of block "${block}" of ${runId}: ${seen}`
  throw new Refused({ code: 'no_log', detail })
}

/** `objstore://<tenant>/<sha256>` */
async function fetchBody(target: Target, ref: string): Promise<Uint8Array> {
  const sha256 = ref.slice(ref.lastIndexOf('/') + 1)
  const response = await fetchResponse(target, (api) =>
    api.GET('/api/objects/{sha256}', { params: { path: { sha256 } }, parseAs: 'stream' }),
  )
  return new Uint8Array(await response.arrayBuffer())
}

/** The last lines of each step that failed, below where all of them are; of items where they are. `command` is what shows one. */
export function failedLogLines(
  { run: { run_id }, blocks, dag }: RunAnswer,
  command: (words: string) => string,
): readonly string[] {
  return Object.entries(blocks).flatMap(([id, { state, log, items = {} }]) => {
    if (state !== 'failed') return []
    const whole = `run log ${run_id} ${id}`
    if (log !== undefined) {
      const size = `${count(log.lines, 'line')}, ${sizeWords(log.bytes)}`
      return [`The end of the log of block ${oneLine(id)} (${size}): ${command(whole)}`, ...log.tail.map(indented)]
    }
    if (dag.blocks.find((block) => block.id === id)?.step === undefined) return []
    const failed = Object.keys(items).filter((item) => items[item]?.state === 'failed')
    return failed.slice(0, ITEMS_NAMED).map((item) => {
      return `The log of item ${item} of block ${oneLine(id)}: ${command(`${whole} --item ${item}`)}`
    })
  })
}

const ITEMS_NAMED = 3

/** The same, for who is told an event as lines and has no command to look further. */
export function failedTail(event: RunEvent): readonly string[] {
  if (event.type !== 'block:output') return []
  const { finish_reason, log } = event.data
  return finish_reason === 'returned' ? [] : (log?.tail ?? []).map(indented)
}

function indented(line: string): string {
  return `  | ${oneLine(line)}`
}
