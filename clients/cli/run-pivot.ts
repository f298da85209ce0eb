import type { Command, CommandOptions } from 'commander'
import type { Dag } from '../../shared/dag/dag.ts'
import { type Ask, chooseTarget } from './api.ts'
import { fetchRun } from './fetch-run.ts'
import { runInputs } from './run-inputs.ts'
import type { Session } from './session.ts'
import { startAndWatch, startOnly } from './start-run.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface PivotOptions extends TargetOptions {
  readonly input?: readonly string[]
  readonly feedback?: string
  readonly watch?: true
  readonly yes?: true
}

export function addPivot(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'start the next attempt at the goal of a run that ended partial, told what that one missed'
  withTarget(parent.command('pivot', hidden).description(words))
    .argument('<run-id>')
    .option('--input <key=value>', 'another value of a run input; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option('--feedback <text>', 'what the next attempt is told besides')
    .option('--watch', 'follow it to its end')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action((runId: string, options: PivotOptions) => pivot(session, runId, options))
}

async function pivot(session: Session, runId: string, options: PivotOptions): Promise<void> {
  const { input: pairs = [], feedback } = options
  const target = chooseTarget(session, options.url)
  const declared = pairs.length === 0 ? undefined : ((await fetchRun(target, runId)).dag.inputs as Dag['inputs'])
  const body = {
    ...runInputs({ pairs, context: {}, ...(declared && { declared }) }),
    ...(feedback !== undefined && { feedback }),
  }
  const request: Ask = (api) => api.POST('/api/dag/runs/{run_id}/pivot', { params: { path: { run_id: runId } }, body })
  const how = { request, json: options.json === true, yes: options.yes === true }
  if (options.watch === true || how.yes) process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}
