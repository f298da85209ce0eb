import type { Command, CommandOptions } from 'commander'
import { PAUSE_ROUTES } from '../../../shared/api/pause-routes.ts'
import { durationWords } from '../../../shared/text/duration.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

interface PauseOptions extends TargetOptions {
  readonly why?: string
}

/** `pause` and `resume` of a run. */
export function addPause(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(
    parent.command('pause', hidden).description('let a run start nothing; what is at work ends, deadlines stand still'),
  )
    .argument('<run-id>')
    .option('--why <text>', 'recorded with the run')
    .action((runId: string, options: PauseOptions) => pause(session, options, runId))
  withTargetOptions(parent.command('resume', hidden).description('let a paused run go on'))
    .argument('<run-id>')
    .option('--why <text>', 'recorded with the run')
    .action((runId: string, options: PauseOptions) => resume(session, options, runId))
}

async function pause(session: Session, { url, json, why }: PauseOptions, run_id: string): Promise<void> {
  const schema = PAUSE_ROUTES['pause-run'].answer.loose()
  const answer = await callApi(chooseTarget(session, url), schema, (api) =>
    api.POST('/api/dag/runs/{run_id}/pause', { params: { path: { run_id } }, body: reasonOf(why) }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  session.say(oneLine(`Paused ${answer.run_id}: what is at work ends, nothing begins, deadlines stand still.`))
}

async function resume(session: Session, { url, json, why }: PauseOptions, run_id: string): Promise<void> {
  const schema = PAUSE_ROUTES['resume-run'].answer.loose()
  const answer = await callApi(chooseTarget(session, url), schema, (api) =>
    api.POST('/api/dag/runs/{run_id}/resume', { params: { path: { run_id } }, body: reasonOf(why) }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const stood = durationWords(Math.round(answer.stood_ms / 1_000))
  session.say(oneLine(`${answer.run_id} goes on; it stood for ${stood}, and its deadlines moved on by that.`))
}

/** `dag pause` and `dag resume`. */
export function addDag(parent: Command, session: Session): void {
  const dag = parent.command('dag').description('let no run of a document be started for a while, and let it go on')
  withTargetOptions(dag.command('pause').description('refuse starts of a document; runs under way are not touched'))
    .argument('<name>', 'a document of the place')
    .option('--why <text>', 'told to whoever would start one')
    .action((name: string, options: PauseOptions) => change(session, name, true, options))
  withTargetOptions(dag.command('resume').description('let it be started again; what triggers owe is started'))
    .argument('<name>', 'a document of the place')
    .action((name: string, options: PauseOptions) => change(session, name, false, options))
}

async function change(session: Session, name: string, paused: boolean, options: PauseOptions): Promise<void> {
  const { url, json, why } = options
  const schema = PAUSE_ROUTES['change-document'].answer.loose()
  const answer = await callApi(chooseTarget(session, url), schema, (api) =>
    api.PATCH('/api/dag/documents/{name}', { params: { path: { name } }, body: { paused, ...reasonOf(why) } }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const words = paused ? 'is paused: nobody starts a run of it' : 'goes on'
  session.say(oneLine(`${name} ${words}${answer.changed ? '' : ' (it was so already)'}.`))
}

function reasonOf(why: string | undefined): { readonly reason?: string } {
  return why === undefined ? {} : { reason: why }
}
