import type { Command, CommandOptions } from 'commander'
import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { count } from './words.ts'

/** `run release`: the end of `stop-all --hold`. */
export function addRelease(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('release', hidden).description('allow starts again after stop-all --hold')).action(
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
