import { type Command, InvalidArgumentError } from 'commander'
import { LIMITS } from '../../../shared/limits.ts'

/** Options of every command that talks to a server. */
export interface TargetOptions {
  readonly url?: string
  /** A deployment on AWS, called with the caller's own credentials (clients/cli/command-tree.ts reads these three). */
  readonly stack?: string
  readonly profile?: string
  readonly region?: string
  readonly json?: true
}

export function withTargetOptions(command: Command): Command {
  return withTargetOptionsButJson(command).option('--json', 'print JSON')
}

/** The same for a command that prints nothing of its own. */
export function withTargetOptionsButJson(command: Command): Command {
  return command
    .option('--url <url>', 'server to use (default: SLUICE_URL, else the place of this folder)')
    .option(
      '--stack <name>',
      'a deployment on AWS, signed with your credentials: its stage, or the name of its API stack',
    )
    .option('--profile <name>', 'AWS profile that signs (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region of the deployment (default: AWS_REGION, else that of the profile)')
}

const READING = new WeakSet<Command>()

/** The same for a command that changes nothing: without a server it reads the data folder of its project. */
export function withReadingOptions(command: Command): Command {
  return withReadingOptionsButJson(command).option('--json', 'print JSON')
}

/** The same for a command that has a --json of its own. */
export function withReadingOptionsButJson(command: Command): Command {
  READING.add(command)
  return withTargetOptionsButJson(command)
}

export function onlyReads(command: Command): boolean {
  return READING.has(command)
}

/** Options of the commands that are about a deployment itself. */
export interface StageOptions {
  readonly stage?: string
  readonly profile?: string
  readonly region?: string
}

export function withStageOptions(command: Command): Command {
  return command
    .option('--stage <name>', 'its stage (default: the one in cdk.json)')
    .option('--profile <name>', 'AWS profile to use (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else that of the profile)')
}

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

/** Reads an option as a whole number from `min` to `max`; anything else is a usage error. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const read = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (read >= min && read <= max) return read
    throw new InvalidArgumentError(`A whole number from ${min} to ${max} is needed.`)
  }
}

/** What the help of a command says besides its arguments and options. */
export interface CommandHelp {
  /** What a person reads on stdout. */
  readonly prints: string
  /** What a program gets with --json; without it the command has no --json. */
  readonly json?: string
  /** Exit codes that say more here than everywhere (0 ok, 1 failed or refused, 2 usage). */
  readonly exits?: Readonly<Record<number, string>>
  /** Whole command lines, without `sluice`. */
  readonly examples: readonly string[]
}
