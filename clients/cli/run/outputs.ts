import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { RUN_DATA_ROUTES } from '../../../shared/api/run-data-routes.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { count, sizeWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine, plainText } from '../terminal/text.ts'

export function addOutput(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(parent.command('output', hidden).description('values of the outputs of a completed block'))
    .argument('<run-id>')
    .argument('[block]', 'default: the blocks no other waits for')
    .action((runId: string, block: string | undefined, options: TargetOptions) =>
      output(session, runId, block, options),
    )
}

async function output(session: Session, runId: string, block: string | undefined, options: TargetOptions) {
  const target = chooseTarget(session, options.url)
  const found = block === undefined ? await ofSinks(session, target, runId) : [await fetchOutputs(target, runId, block)]
  if (options.json === true) session.say(jsonText(block === undefined ? found : found[0], 2))
  else for (const line of found.flatMap(outputLines)) session.say(line)
}

/** A sink that has published nothing is told on stderr; Refused when that is true of all. */
async function ofSinks(session: Session, target: Target, runId: string): Promise<readonly BlockOutputs[]> {
  const sinks = sinkBlocks(await fetchRun(target, runId))
  const found: BlockOutputs[] = []
  const missing: Refused[] = []
  for (const { id } of sinks) {
    await fetchOutputs(target, runId, id).then(
      (outputs) => void found.push(outputs),
      (error: unknown) => {
        if (!(error instanceof Refused) || error.reason.code !== 'no_outputs') throw error
        missing.push(error)
      },
    )
  }
  if (found.length === 0) throw missing[0] ?? nothingToShow(runId)
  for (const { reason } of missing) session.warn(reason.detail)
  return found
}

function nothingToShow(runId: string): Refused {
  const detail = `Cannot show outputs of ${runId}: no block that others do not wait for declares any. Name a block.`
  return new Refused({ code: 'no_outputs', detail })
}

const OutputsSchema = z.looseObject({
  block_id: z.string(),
  outputs: RUN_DATA_ROUTES['get-outputs'].answer.shape.outputs,
  refs: z.record(z.string(), z.looseObject({ ref: z.string(), bytes: z.number() })),
})
type BlockOutputs = z.infer<typeof OutputsSchema>

/** What a completed block published; Refused no_outputs or unknown_block says why there is nothing. */
function fetchOutputs(target: Target, runId: string, blockId: string): Promise<BlockOutputs> {
  return callApi(target, OutputsSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params: { path: { run_id: runId, block_id: blockId } } }),
  )
}

/** Every value whole, below a line that names it. */
export function outputLines({ block_id, outputs, refs }: BlockOutputs): readonly string[] {
  const values = Object.entries(outputs).flatMap(([port, value]) => [`--- ${block_id}.${port}`, ...textLines(value)])
  const large = Object.entries(refs).map(
    ([port, { ref, bytes }]) => `--- ${block_id}.${port} is too large to show here (${sizeWords(bytes)}): ${ref}`,
  )
  return [...values, ...large].map(plainText)
}

/** A value as lines: text as it is, anything else as JSON. */
function textLines(value: unknown): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.replace(/\n$/, '').split('\n')
}

/** Blocks with outputs that nobody waits for: what the run was made for. */
export function sinkBlocks({ dag: { blocks } }: RunAnswer): readonly RunAnswer['dag']['blocks'][number][] {
  const waitedFor = new Set(blocks.flatMap(({ upstream }) => upstream))
  return blocks.filter(({ id, outputs }) => !waitedFor.has(id) && Object.keys(outputs).length > 0)
}

/**
 * What a run was made for, alone: the one value as it is, or one JSON object of several. How a run ended that did not
 * complete is told on stderr.
 */
export async function sayResult(session: Session, target: Target, answer: RunAnswer): Promise<void> {
  const { run_id, state, reason } = answer.run
  if (state !== 'completed') session.warn(oneLine(`Run ${run_id} ${state}${reason === undefined ? '' : `: ${reason}`}`))
  const done = sinkBlocks(answer).filter(({ id, mode }) => mode !== 'approval' && isDone(answer, id))
  const found = await Promise.all(done.map(({ id }) => fetchOutputs(target, run_id, id).catch(noneToShow)))
  const values = found.flatMap((one) =>
    one === undefined
      ? []
      : Object.entries({ ...one.outputs, ...one.refs }).map(([port, value]) => [one.block_id, port, value] as const),
  )
  const [first] = values
  if (first === undefined) return
  if (values.length === 1) return session.say(textLines(first[2]).map(plainText).join('\n'))
  const blocks = new Map<string, Record<string, unknown>>()
  for (const [block, port, value] of values) blocks.set(block, { ...blocks.get(block), [port]: value })
  session.say(jsonText(Object.fromEntries(blocks), 2))
}

/** What the run's sink blocks wrote as text, for the end of a watched run: `more` is the command that shows all. */
export async function sinkTexts(
  target: Target,
  answer: RunAnswer,
  more: (blockId: string) => string,
): Promise<readonly string[]> {
  const done = sinkBlocks(answer).filter(({ id, mode }) => mode !== 'approval' && isDone(answer, id))
  const texts = done.map(async ({ id, outputs: ports }) => {
    const found = await fetchOutputs(target, answer.run.run_id, id).catch(noneToShow)
    const isText = (port: string) => ports[port]?.type === 'string'
    return Object.entries(found?.outputs ?? {}).flatMap(([port, value]) =>
      isText(port) ? [`--- ${id}.${port}`, ...shortened(textLines(value), more(id))].map(plainText) : [],
    )
  })
  return (await Promise.all(texts)).flat()
}

const MAX_LINES = 40
const MAX_COLUMNS = 1_000

function isDone({ blocks }: RunAnswer, id: string): boolean {
  return blocks[id]?.state === 'completed'
}

/** The run is over and told: that a server cannot show its values any more is no failure of it. */
function noneToShow(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error
}

function shortened(lines: readonly string[], more: string): readonly string[] {
  const rest = lines.length - MAX_LINES
  const first = lines.slice(0, MAX_LINES).map((line) => cut(line, MAX_COLUMNS))
  const isCut = rest > 0 || first.some((line, at) => line !== lines[at])
  return isCut ? [...first, `… ${rest > 0 ? `${count(rest, 'more line')}` : 'cut'}: ${more}`] : first
}
