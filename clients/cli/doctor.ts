import type { Command } from 'commander'
import * as z from 'zod'
import { callApi, chooseTarget, type Target } from './api.ts'
import { type Check, check } from './check.ts'
import { providerChecks } from './doctor-providers.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { slackChecks } from './slack-checks.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

/** `sluice doctor`: what is wrong with this installation, one thing a line; exit code 100 when something is. */
export function addDoctor(parent: Command, session: Session): void {
  withTarget(parent.command('doctor'))
    .description('check Node, packages, settings, folders, server, console, providers and Slack')
    .action((options: TargetOptions) => doctor(session, options))
}

async function doctor(session: Session, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const { checkHere } = await import('./doctor-here.ts')
  const { here, settings } = checkHere()
  const checks = [
    ...here,
    await serverCheck(session, target),
    ...(await providerChecks(session, settings)),
    ...(await slackChecks(session, settings, target)),
  ]
  const ok = checks.every(({ state }) => state !== 'failed')
  if (json === true) session.say(jsonText({ ok, checks }, 2))
  else for (const line of checkLines(checks)) session.say(plainText(line))
  if (!ok) process.exitCode = 100
}

const WORDS = { ok: 'ok', warning: 'warning', failed: 'FAILED', skipped: '-' } as const

function checkLines(checks: readonly Check[]): readonly string[] {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks.flatMap(({ name, state, says, fix }) => {
    const line = `${WORDS[state].padEnd(8)}${name.padEnd(width)}  ${says}`
    return fix === undefined ? [line] : [line, `${' '.repeat(width + 10)}fix: ${fix}`]
  })
}

/** A server nobody named need not be there: a run then runs inside its command. */
async function serverCheck({ settings }: Session, target: Target): Promise<Check> {
  try {
    const { status } = await callApi(target, z.looseObject({ status: z.string() }), (api) => api.GET('/api/health'))
    return check.ok('server', `${target.url} says ${status}`)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (target.named) return check.failed('server', error.reason.detail, 'start one, or name another with --url')
    const says = `none at ${target.url}; runs run inside their command`
    return check.warning('server', says, `\`${settings.command} start\` starts one, with the console`)
  }
}
