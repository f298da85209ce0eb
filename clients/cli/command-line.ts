import { chooseTarget, type Target } from './api.ts'
import type { Session } from './session.ts'

/** A further command as a person types it here, with --url where it would not find the server by itself. */
export function commandLine(session: Session, target: Target, words: string): string {
  const found = chooseTarget(session).url === target.url
  return `${session.settings.command} ${words}${found ? '' : ` --url ${target.url}`}`
}
