import type { Command, CommandOptions } from 'commander'
import type { Dag } from '../../../shared/dag/dag.ts'
import type { paths } from '../../api/schema.generated.ts'
import { type Ask, chooseTarget, type Target } from '../server/api.ts'
import { fetchRun } from '../server/fetch-run.ts'
import { readFile } from '../terminal/files.ts'
import { readContext, splitRunInputs } from '../terminal/input-values.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { startAndWatch, startOnly } from './start-and-watch.ts'

interface RetryOptions extends TargetOptions {
  readonly from?: string
  readonly say?: string
  readonly input?: readonly string[]
  readonly contextJson?: string
  readonly dag?: string
  readonly watch?: true
  readonly quiet?: true
  readonly yes?: true
}

export function addRetry(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'start a linked run that takes over what an ended one completed; nothing is paid for twice'
  withTargetOptions(parent.command('retry', hidden).description(words))
    .argument('<run-id>')
    .option(
      '--from <block>',
      'begin again with this block and all that depend on it; BLOCK@TURN: of an agent, after that turn',
    )
    .option('--say <text>', 'with BLOCK@TURN: what the agent is told where it goes on')
    .option('--input <key=value>', 'another value of a run input; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option('--context-json <file>', 'other free values, from a JSON file with one object')
    .option('--dag <file>', 'an edited document; its unchanged blocks are taken over')
    .option('--watch', 'follow it to its end')
    .option('--quiet', 'follow it to its end, and print its result alone')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action((runId: string, options: RetryOptions) => retry(session, runId, options))
}

async function retry(session: Session, runId: string, options: RetryOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const body = await requestOf(target, runId, options)
  const request: Ask = (api) => api.POST('/api/dag/runs/{run_id}/retry', { params: { path: { run_id: runId } }, body })
  const how = { request, json: options.json === true, quiet: options.quiet === true, yes: options.yes === true }
  if (options.watch === true || how.quiet || how.yes)
    process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}

type RetryBody = NonNullable<
  paths['/api/dag/runs/{run_id}/retry']['post']['requestBody']
>['content']['application/json']

/** The body of POST .../retry. */
async function requestOf(target: Target, runId: string, options: RetryOptions): Promise<RetryBody> {
  const { from, input: pairs = [], contextJson, dag: file } = options
  const dag = file === undefined ? undefined : readFile(file, 'DAG file')
  const { declaredInputs } = await import('./choose-document.ts')
  const declared = pairs.length === 0 ? undefined : await declaredInputs(target, runId, file, dag)
  return {
    ...splitRunInputs({ pairs, context: readContext(contextJson), ...(declared && { declared }) }),
    ...fromOf(from, options.say),
    ...(dag !== undefined && { dag }),
  }
}

/** `refund` or `refund@7`. */
function fromOf(
  from: string | undefined,
  say: string | undefined,
): Pick<RetryBody, 'from_block' | 'keep_turns' | 'say'> {
  const words = say === undefined ? {} : { say }
  if (from === undefined) return words
  const [, block = from, turn] = /^(.*)@(\d{1,3})$/.exec(from) ?? []
  return { from_block: block, ...(turn === undefined ? {} : { keep_turns: Number(turn) }), ...words }
}

interface PivotOptions extends TargetOptions {
  readonly input?: readonly string[]
  readonly feedback?: string
  readonly watch?: true
  readonly quiet?: true
  readonly yes?: true
}

export function addPivot(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'start the next attempt at the goal of a run that ended partial, told what that one missed'
  withTargetOptions(parent.command('pivot', hidden).description(words))
    .argument('<run-id>')
    .option('--input <key=value>', 'another value of a run input; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option('--feedback <text>', 'what the next attempt is told besides')
    .option('--watch', 'follow it to its end')
    .option('--quiet', 'follow it to its end, and print its result alone')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action((runId: string, options: PivotOptions) => pivot(session, runId, options))
}

async function pivot(session: Session, runId: string, options: PivotOptions): Promise<void> {
  const { input: pairs = [], feedback } = options
  const target = chooseTarget(session, options.url)
  const declared = pairs.length === 0 ? undefined : ((await fetchRun(target, runId)).dag.inputs as Dag['inputs'])
  const body = {
    ...splitRunInputs({ pairs, context: {}, ...(declared && { declared }) }),
    ...(feedback !== undefined && { feedback }),
  }
  const request: Ask = (api) => api.POST('/api/dag/runs/{run_id}/pivot', { params: { path: { run_id: runId } }, body })
  const how = { request, json: options.json === true, quiet: options.quiet === true, yes: options.yes === true }
  if (options.watch === true || how.quiet || how.yes)
    process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}
