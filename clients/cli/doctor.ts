import type { Command } from 'commander'
import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { type Check, check } from './check.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { readFileIfAny } from './read-file.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { slackChecks } from './slack-checks.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

/** `sluice doctor`: what is wrong with this installation, one thing a line; exit code 100 when something is. */
export function addDoctor(parent: Command, session: Session): void {
  withTarget(parent.command('doctor'))
    .description('check Node, settings, server, and Slack where it is configured')
    .action((options: TargetOptions) => doctor(session, options))
}

async function doctor(session: Session, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const [settingsCheck, settings] = readSettingsHere()
  const checks = [
    nodeCheck(),
    settingsCheck,
    await serverCheck(target),
    ...(await slackChecks(session, settings, target)),
  ]
  const ok = checks.every(({ state }) => state !== 'failed')
  if (json === true) session.say(jsonText({ ok, checks }, 2))
  else for (const one of checks) for (const line of linesOf(one)) session.say(plainText(line))
  if (!ok) process.exitCode = 100
}

const WORDS = { ok: 'ok', failed: 'FAILED', skipped: '-' } as const

function linesOf({ name, state, says, fix }: Check): readonly string[] {
  const indent = ' '.repeat(24)
  const line = `${WORDS[state].padEnd(8)}${name.padEnd(16)}${says}`
  return fix === undefined ? [line] : [line, `${indent}fix: ${fix}`]
}

/** node:sqlite with FTS5 and no warning. */
const NODE = 24

function nodeCheck(): Check {
  const major = Number(/^v(\d+)\./.exec(process.version)?.[1])
  if (major >= NODE) return check.ok('node', process.version)
  return check.failed(
    'node',
    `${process.version} is too old`,
    `use Node ${NODE} or later; \`npm ci\` in the clone brings one`,
  )
}

function readSettingsHere(): readonly [Check, Settings | undefined] {
  try {
    const text = readFileIfAny('sluice.yaml', 'settings')
    const settings = parseSettings(text ?? '', 'sluice.yaml')
    return [
      check.ok('settings', text === undefined ? 'no sluice.yaml here: all defaults' : 'sluice.yaml is good'),
      settings,
    ]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return [
      check.failed('settings', error.message, 'mend sluice.yaml; `sluice validate` tells the same with places'),
      undefined,
    ]
  }
}

async function serverCheck(target: Target): Promise<Check> {
  try {
    const { status } = await callApi(target, z.looseObject({ status: z.string() }), { path: '/api/health' })
    return check.ok('server', `${target.url} says ${status}`)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return check.failed('server', error.reason.detail, 'start one, or name another with --url')
  }
}
