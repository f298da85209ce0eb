import { type Command, InvalidArgumentError } from 'commander'
import { LIMITS } from '../../shared/dag/limits.ts'
import { wholeNumber } from './whole-number.ts'

export interface PlanOptions {
  readonly durations: Numbers
  readonly defaultDuration: number
  readonly items: Numbers
  readonly maxParallel?: number
  readonly json?: true
  readonly ndjson?: true
}

/** What a caller knows of the runs to plan. */
export function withPlanOptions(command: Command): Command {
  return command
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
