import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { CONTROL_ROUTES } from '../../../shared/api/control-routes.ts'
import { Fault } from '../../../shared/errors.ts'
import { type Ask, callApi, chooseTarget } from '../server/api.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

interface StopOptions extends TargetOptions {
  readonly reason?: string
  readonly block?: string
  readonly hold?: true
}

/** `stop` and `stop-all`. */
export function addStop(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(parent.command('stop', hidden).description('cancel a run, or one block of it'))
    .argument('<run-id>')
    .option('--reason <text>', 'recorded with the run')
    .option('--block <id>', 'stop this block alone; the run goes on, and ends failed')
    .action((runId: string, options: StopOptions) => stop(session, options, runId))
  withTargetOptions(parent.command('stop-all', hidden).description('cancel every active run'))
    .option('--reason <text>', 'recorded with each run, and with the hold')
    .option('--hold', 'and refuse starts from now on, until `run release`')
    .action((options: StopOptions) => stop(session, options))
}

async function stop(session: Session, options: StopOptions, run_id?: string): Promise<void> {
  const { url, json, reason, block, hold } = options
  const why = reason === undefined ? {} : { reason }
  const ask: Ask =
    run_id === undefined
      ? (api) => api.POST('/api/dag/runs/stop-all', { body: { ...why, ...(hold && { hold }) } })
      : (api) => {
          const body = { ...why, ...(block !== undefined && { block_id: block }) }
          return api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body })
        }
  const answer = await callApi(chooseTarget(session, url), StoppedSchema, ask)
  const { stopped, left = 0, not_stopped = [] } = answer
  if (json === true) session.say(jsonText(answer, 2))
  else if (block !== undefined) session.say(oneLine(`Cancelled block ${block}. The run goes on, and ends failed.`))
  else for (const line of [`Cancelled ${count(stopped, 'run')}.`, ...not_stopped.map(leftLine)]) session.say(line)
  if (json !== true && hold === true) session.say('Starts are on hold. `run release` allows them again.')
  if (left > 0)
    throw new Fault('Unavailable', 'runs_left', `${count(left, 'run')} could not be stopped now. Ask again.`)
}

function leftLine({ run_id, code }: { readonly run_id: string; readonly code: string }): string {
  return oneLine(`Not stopped: ${run_id} [${code}]`)
}

const StoppedSchema = z.looseObject({
  status: z.string(),
  stopped: z.int(),
  left: z.int().optional(),
  not_stopped: z.array(z.looseObject({ run_id: z.string(), code: z.string() })).optional(),
})

/** `run release`: the end of `stop-all --hold`. */
export function addRelease(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(parent.command('release', hidden).description('allow starts again after stop-all --hold')).action(
    (options: TargetOptions) => release(session, options),
  )
}

async function release(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), AnswerSchema, (api) =>
    api.POST('/api/dag/safety/release', { body: {} }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  session.say(answer.released ? 'Starts are allowed again.' : 'Starts were not on hold.')
  if (answer.started > 0) session.say(`${count(answer.started, 'queued run')} got a place.`)
}

/** A newer server may say more. */
const AnswerSchema = CONTROL_ROUTES['release-starts'].answer.loose()
