import { existsSync } from 'node:fs'
import type { ProviderSettings, RemoteSettings } from '../../shared/provider-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { type Check, check } from './check.ts'
import type { Session } from './session.ts'

/** Whether each configured provider can be reached and has its key. Nothing is asked of a model, no key is sent or told. */
export async function providerChecks(session: Session, settings: Settings | undefined): Promise<readonly Check[]> {
  const configured = Object.entries(settings?.providers ?? {})
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
      return keyCheck(session, name, provider) ?? (await reachCheck(name, provider))
  }
}

function replayCheck(name: string, record: string): Check {
  if (record.startsWith('objstore://')) return check.skipped(name, 'its recording is an object: the place reads it')
  if (existsSync(record)) return check.ok(name, `${record} is there`)
  return check.failed(name, `there is no ${record}`, '`sluice run record RUN -o FILE` writes a recording')
}

/** Undefined: the key is there, or none is needed. */
function keyCheck(session: Session, name: string, { key }: RemoteSettings): Check | undefined {
  if (key === undefined) return undefined
  if (key.env === undefined)
    return check.skipped(name, 'its key is only where AWS keeps it; add env: NAME to use it from here')
  if ((session.key(key.env) ?? '').trim() !== '') return undefined
  return check.failed(name, `environment variable ${key.env} is not set`, `set ${key.env} where the place is started`)
}

const PATIENCE_MS = 2_000

/** Any answer will do: without a key or a body most say 401, 404 or 405. */
async function reachCheck(name: string, { url, key }: RemoteSettings): Promise<Check> {
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
