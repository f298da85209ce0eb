import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { callApi, chooseTarget } from './api.ts'
import { runPath } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { count } from './words.ts'

interface StopOptions extends TargetOptions {
  readonly reason?: string
}

/** `stop` and `stop-all`. */
export function addStop(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('stop', hidden).description('cancel a run'))
    .argument('<run-id>')
    .option('--reason <text>', 'recorded with the run')
    .action((runId: string, options: StopOptions) => stop(session, runPath(runId, '/stop'), options))
  withTarget(parent.command('stop-all', hidden).description('cancel every active run'))
    .option('--reason <text>', 'recorded with each run')
    .action((options: StopOptions) => stop(session, '/api/dag/runs/stop-all', options))
}

async function stop(session: Session, path: string, { url, json, reason }: StopOptions): Promise<void> {
  const body = reason === undefined ? {} : { reason }
  const answer = await callApi(chooseTarget(session, url), StoppedSchema, { method: 'POST', path, body })
  session.say(json === true ? jsonText(answer, 2) : `Cancelled ${count(answer.stopped, 'run')}.`)
}

const StoppedSchema = z.looseObject({ status: z.string(), stopped: z.int() })
