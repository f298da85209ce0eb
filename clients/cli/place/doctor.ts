import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import * as z from 'zod'
import type { AiSdkSettings, ProviderSettings, RemoteSettings } from '../../../shared/providers/settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { type Check, check } from './doctor-check.ts'
import { egressCheck, fetchThrough } from './doctor-egress-check.ts'
import { slackChecks } from './doctor-slack-checks.ts'

/** `sluice doctor`: what is wrong with this installation, one thing a line; exit code 100 when something is. */
export function addDoctor(parent: Command, session: Session): void {
  withTargetOptions(parent.command('doctor'))
    .description('check Node, packages, settings, folders, server, console, egress, providers and Slack')
    .action((options: TargetOptions) => doctor(session, options))
}

async function doctor(session: Session, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const { checkLocally } = await import('./doctor-local-checks.ts')
  const { here, settings } = checkLocally()
  const checks = [
    ...here,
    await serverCheck(session, target),
    ...(await executionChecks(session)),
    ...(await outsideChecks(session, settings, target)),
  ]
  const ok = checks.every(({ state }) => state !== 'failed')
  if (json === true) session.say(jsonText({ ok, checks }, 2))
  else for (const line of checkLines(checks)) session.say(plainText(line))
  if (!ok) process.exitCode = 100
}

/** By which way requests leave, and what is reached by it. */
async function outsideChecks(
  session: Session,
  settings: Settings | undefined,
  target: Target,
): Promise<readonly Check[]> {
  if (settings === undefined) return slackChecks(session, settings, target)
  const { check: egress, proxy } = await egressCheck(session, settings)
  const restore = fetchThrough(proxy)
  try {
    return [egress, ...(await providerChecks(session, settings)), ...(await slackChecks(session, settings, target))]
  } finally {
    restore()
  }
}

const WORDS = { ok: 'ok', warning: 'warning', failed: 'FAILED', skipped: '-' } as const

function checkLines(checks: readonly Check[]): readonly string[] {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks.flatMap(({ name, state, says, fix }) => {
    const line = `${WORDS[state].padEnd(8)}${name.padEnd(width)}  ${says}`
    return fix === undefined ? [line] : [line, `${' '.repeat(width + 10)}fix: ${fix}`]
  })
}

/** A newer server may tell more, an older one less. */
const HealthSchema = z.looseObject({
  status: z.string(),
  parts: z.record(z.string(), z.looseObject({ state: z.string(), why: z.string().optional() })).default({}),
})

function saidBy({ url }: Target, { status, parts }: z.output<typeof HealthSchema>): Check {
  const all = Object.entries(parts)
  const failed = all.flatMap(([part, { state, why }]) => (state === 'failed' ? [`${part} (${why})`] : []))
  if (failed.length > 0)
    return check.warning('server', `${url} is ${status}: ${failed.join(', ')}`, 'mend what it names')
  const good = all.flatMap(([part, { state }]) => (state === 'ok' ? [part] : []))
  return check.ok('server', `${url} says ${status}${good.length === 0 ? '' : `; it tried ${good.join(', ')}`}`)
}

/** A server nobody named need not be there: a run then runs inside its command. */
async function serverCheck({ settings }: Session, target: Target): Promise<Check> {
  try {
    const health = await callApi(target, HealthSchema, (api) => api.GET('/api/health'))
    return saidBy(target, health)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.reason.code === 'place_unable') return check.failed('server', error.reason.detail, 'mend what it names')
    if (target.named) return check.failed('server', error.reason.detail, 'start one, or name another with --url')
    const says = `none at ${target.url}; runs run inside their command`
    return check.warning('server', says, `\`${settings.command} start\` starts one, with the console`)
  }
}

/** Of a deployment: what the sweep, decisions and stops reserve, and what Lambda keeps free besides (docs/deploy.md). */
const NEEDED = 124
/** One for each block that works at once, and each open stream of events. */
const PLENTY = 1_000

/** Whether the account of a deployment has room for its functions; nothing where the command is about no deployment. */
async function executionChecks({ signed }: Session): Promise<readonly Check[]> {
  if (signed === undefined) return []
  try {
    const { limit, free } = await signed.executions()
    const says = `the account has ${limit} concurrent executions of Lambda, ${free} unreserved`
    if (limit >= PLENTY) return [check.ok('executions', says)]
    const why =
      limit < NEEDED
        ? `a stage reserves 24 and Lambda keeps 100 free, so \`sluice deploy\` needs ${NEEDED}`
        : 'each block that works and each open stream takes one'
    const fix = `ask for ${PLENTY} (Service Quotas, AWS Lambda, "Concurrent executions")`
    return [check.warning('executions', `${says}; ${why}`, fix)]
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return [check.skipped('executions', `not asked: ${error.reason.detail}`)]
  }
}

/** Whether each configured provider can be reached and has its key. Nothing is asked of a model, no key is sent or told. */
async function providerChecks(session: Session, settings: Settings): Promise<readonly Check[]> {
  const configured = Object.entries(settings.providers)
  return await Promise.all(configured.map(([name, provider]) => providerCheck(session, `provider ${name}`, provider)))
}

async function providerCheck(session: Session, name: string, provider: ProviderSettings): Promise<Check> {
  switch (provider.type) {
    case 'local':
      return check.ok(name, 'text tools of this package')
    case 'bedrock':
      return check.skipped(name, 'the AWS SDK finds region and credentials when it is asked')
    case 'replay':
      return replayCheck(name, provider.record)
    default:
      return keyCheck(session, name, provider) ?? (await serverReached(name, provider))
  }
}

function replayCheck(name: string, record: string): Check {
  if (record.startsWith('objstore://')) return check.skipped(name, 'its recording is an object: the place reads it')
  if (existsSync(record)) return check.ok(name, `${record} is there`)
  return check.failed(name, `there is no ${record}`, '`sluice run record RUN -o FILE` writes a recording')
}

/** Undefined: the key is there, or none is needed. */
function keyCheck(session: Session, name: string, { key }: Pick<RemoteSettings, 'key'>): Check | undefined {
  if (key === undefined) return undefined
  if (key.env === undefined)
    return check.skipped(name, 'its key is only where AWS keeps it; add env: NAME to use it from here')
  if ((session.key(key.env) ?? '').trim() !== '') return undefined
  return check.failed(name, `environment variable ${key.env} is not set`, `set ${key.env} where the place is started`)
}

async function serverReached(name: string, provider: RemoteSettings | AiSdkSettings): Promise<Check> {
  if (provider.type !== 'ai-sdk') return reachCheck(name, provider)
  const { url, key, package: from } = provider
  if (url === undefined) return check.skipped(name, `only ${from} knows its server`)
  return reachCheck(name, { url, key })
}

const PATIENCE_MS = 2_000

/** Any answer will do: without a key or a body most say 401, 404 or 405. */
async function reachCheck(name: string, { url, key }: Pick<RemoteSettings, 'url' | 'key'>): Promise<Check> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { status } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal })
    return check.ok(name, `${url} answers (${status})${key === undefined ? '' : `, ${key.env} is set`}`)
  } catch (error) {
    const fix = 'start it, or change its url in sluice.yaml'
    return check.failed(name, `${url} does not answer: ${whyOf(error)}`, fix)
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `nothing within ${PATIENCE_MS / 1_000} s`
  return error.cause instanceof Error ? error.cause.message : error.message
}
