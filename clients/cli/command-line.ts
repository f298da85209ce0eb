import { resolve } from 'node:path'
import { chooseTarget, type Target } from './api.ts'
import type { Session } from './session.ts'

/** A further command as a person types it here, with --url or --stack where it would not find the server by itself. */
export function commandLine(session: Session, target: Target, words: string): string {
  if (session.signed?.url === target.url) return `${session.settings.command} ${words}${session.signed.words}`
  const found = chooseTarget(session).url === target.url
  return `${session.settings.command} ${words}${found ? '' : ` --url ${target.url}`}`
}

/** Where a run can be seen in a browser while its server is there; undefined where none of ours serves the page. */
export function consoleLine(session: Session, { url, sign }: Target, runId: string): string | undefined {
  const page = `#/runs/${runId}`
  if (sign !== undefined) {
    return `In a browser: ${session.settings.command} console${session.signed?.words ?? ''}, then ${page}`
  }
  return /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(url) ? `In a browser: ${url}/${page}` : undefined
}

/** The same of a run whose server ended with the command: it is there again once one is started on its folder. */
export function consoleLineLater({ settings }: Session, dataDir: string, runId: string): string {
  const folder = resolve(dataDir) === resolve('.sluice') ? '' : ` --data-dir ${dataDir}`
  return `In a browser: ${settings.command} start${folder}, then http://127.0.0.1:4040/#/runs/${runId}`
}
