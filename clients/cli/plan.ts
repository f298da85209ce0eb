import { type Command, InvalidArgumentError } from 'commander'
import { LIMITS } from '../../shared/dag/limits.ts'
import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { planDag } from '../../shared/plan/plan-dag.ts'
import { SafetySchema } from '../../shared/settings.ts'
import { jsonText } from './json-text.ts'
import { planLines } from './plan-lines.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import { readFileIfAny } from './read-file.ts'
import { usage } from './refused.ts'
import { renderPlan } from './render-plan.ts'
import type { Session } from './session.ts'
import { wholeNumber } from './whole-number.ts'

interface PlanOptions {
  readonly durations: Readonly<Record<string, number>>
  readonly defaultDuration: number
  readonly items: Readonly<Record<string, number>>
  readonly maxParallel?: number
  readonly json?: true
  readonly ndjson?: true
}

export function addPlan(parent: Command, session: Session): void {
  parent
    .command('plan')
    .description('say what runs of a document will do, without a server: time, states, joins, costs, limits')
    .argument('[file]')
    .option('--durations <block=s,..>', 'seconds of work; of one item, where the block is a foreach', readSeconds, {})
    .option('--default-duration <s>', 'seconds of every other block', secondsOf, 1)
    .option(
      '--items <block=n,..>',
      'items of a foreach block whose list comes from the run (default: 1)',
      readItems,
      {},
    )
    .option('--max-parallel <n>', 'blocks at once, 0 = no limit (default: as sluice.yaml says)', wholeNumber(0, 1_000))
    .option('--json', 'print JSON')
    .option('--ndjson', 'read lines {"id","n","edges","dur"} from stdin, answer a line each (docs/plan.md)')
    .action((file: string | undefined, options: PlanOptions) => plan(session, file, options))
}

async function plan(session: Session, file: string | undefined, options: PlanOptions): Promise<void> {
  if (options.ndjson === true) {
    if (file !== undefined) throw usage('Give a file or --ndjson, not both: with --ndjson the DAGs come on stdin.')
    return await planLines(session)
  }
  if (file === undefined) throw usage('Name the DAG file to plan, or say --ndjson.')
  const dag = readDagFile(file, 'plan')
  const { durations, defaultDuration: default_duration, items } = options
  const max_parallel = options.maxParallel ?? maxParallelHere()
  const planned = refusing(() => planDag(dag, { durations, default_duration, items, max_parallel }))
  if (options.json === true) session.say(jsonText(planned, 2))
  else for (const line of renderPlan(planned, session.size().columns)) session.say(line)
}

type Numbers = Readonly<Record<string, number>>

function readSeconds(text: string, before: Numbers): Numbers {
  return { ...before, ...pairsOf(text, secondsOf) }
}

function readItems(text: string, before: Numbers): Numbers {
  return { ...before, ...pairsOf(text, wholeNumber(0, LIMITS.foreach_items)) }
}

function pairsOf(text: string, read: (text: string) => number): Numbers {
  const pairs = text.split(',').map((pair): [string, number] => {
    const at = pair.indexOf('=')
    if (at < 1) throw new InvalidArgumentError(`Pairs block=number, joined by commas, are needed, not "${pair}".`)
    return [pair.slice(0, at).trim(), read(pair.slice(at + 1).trim())]
  })
  return Object.fromEntries(pairs)
}

/** A year: longer than any run lives. */
const MOST_SECONDS = 31_536_000

function secondsOf(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= MOST_SECONDS) return seconds
  throw new InvalidArgumentError(`Seconds from 0 to ${MOST_SECONDS} are needed, like 1.5.`)
}

/** What a run started here would get; a sluice.yaml with errors is for \`sluice validate\` to tell. */
function maxParallelHere(): number {
  const text = readFileIfAny('sluice.yaml', 'settings')
  try {
    const safety = text === undefined ? SafetySchema.parse({}) : parseSettings(text, 'sluice.yaml').safety
    return safety.max_parallel
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return SafetySchema.parse({}).max_parallel
  }
}
