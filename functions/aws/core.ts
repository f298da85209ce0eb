import { randomBytes } from 'node:crypto'
import { Fault } from '../../shared/errors.ts'
import type { Clock, Ids, Log } from '../../shared/ports/host.ts'
import type { Secrets } from '../../shared/ports/secrets.ts'
import { redactForLog } from '../../shared/text/redact.ts'
import type { World } from '../../shared/world.ts'

/** What every function has, and what a port is opened with. */
export interface Core extends Pick<World, 'clock' | 'ids' | 'log' | 'settings'> {
  readonly env: FunctionEnvironment
  readonly deployed: DeployedDocuments
  readonly gates: DeployedGates
  /** Only in functions whose line lists the port. */
  readonly secrets?: Secrets
}

/** What the deployment tells one function: plain values, and the ARNs of the functions it calls or binds by name (settings.ts reads them). */
export interface FunctionEnvironment {
  readonly STAGE: string
  readonly AWS_REGION: string
  readonly TABLE?: string | undefined
  readonly BUCKET?: string | undefined
  readonly ANCHORS?: string | undefined
  readonly DROPS?: string | undefined
  readonly STATE_MACHINE_ROLE_ARN?: string | undefined
  readonly MACHINE_LOG_GROUP_ARN?: string | undefined
  /** Where releases are gradual: id of the release that a function of machines is of. */
  readonly RELEASE?: string | undefined
  /** The release that was deployed last, as JSON (shared/runs/release.ts): who starts runs names it. */
  readonly DEPLOYED_RELEASE?: string | undefined
  readonly SLUICE_LOG: 'info' | 'error'
  /** By catalog name, from `<NAME>_ARN`: `run-block` is RUN_BLOCK_ARN. */
  readonly functions: Readonly<Record<string, string>>
}

/** What the deployment knows of one document: its text, its hash, its machine's name and how many parts that has. */
export interface DeployedDocument {
  readonly document: string
  readonly dag_hash: string
  readonly machine: string
  readonly parts: number
}

/** The generated module of a deployment, by name of the document. */
export type DeployedDocuments = Readonly<Record<string, DeployedDocument>>

/** The gates of the project as they were deployed, by their path: the script and its hash. */
export type DeployedGates = Readonly<Record<string, { readonly text: string; readonly hash: string }>>

/** The environment of this function: the only place in functions/aws that touches it. */
export const environment: NodeJS.ProcessEnv = process.env

/** Fault Bug setting_missing, naming the value. */
export function requiredVariable(settings: FunctionEnvironment, name: OptionalName): string {
  return settings[name] ?? refuseMissing(name)
}

/** ARN of a function of the catalog. Fault Bug setting_missing, naming the value. */
export function functionArn(settings: FunctionEnvironment, name: string): string {
  return settings.functions[name] ?? refuseMissing(arnVariable(name))
}

type OptionalName = 'TABLE' | 'BUCKET' | 'ANCHORS' | 'DROPS' | 'STATE_MACHINE_ROLE_ARN'

/** `run-block` is RUN_BLOCK_ARN. */
export function arnVariable(functionName: string): string {
  return `${functionName.toUpperCase().replaceAll('-', '_')}_ARN`
}

function refuseMissing(name: string): never {
  const message = `Cannot go on: environment value ${name} is missing in this function. Deploy again; infra/aws must give it to every function whose catalog line lists a port that needs it.`
  throw new Fault('Bug', 'setting_missing', message, { facts: { setting: name } })
}

/** The clock of a Lambda sandbox. A delay longer than an invocation (15 minutes) cannot end in it. */
export const lambdaClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

/** Random bytes, and the name of this sandbox: a warm one keeps it over many invocations. */
export function createIds(): Ids {
  return { random: (bytes) => randomBytes(bytes), boot: randomBytes(8).toString('hex') }
}

/** What each line of a function says besides its message. */
interface LogOptions {
  readonly level: 'info' | 'error'
  readonly facts: Readonly<Record<string, unknown>>
  /** Default: standard output, which Lambda hands to CloudWatch line by line. */
  readonly write?: (line: string) => void
}

/**
 * JSON lines. An error line is also a metric (EMF): `unexpected_errors` of namespace Sluice by stage and function, what
 * the alarms look at; signals and faults the caller has to mend are no error lines (docs/observability.md, "Metrics").
 * Not @aws-lambda-powertools: docs/adr/0060.
 */
export function createLog({ level, facts: common, write = writeLine }: LogOptions): Log {
  const line = (of: 'info' | 'error', message: string, facts: Readonly<Record<string, unknown>> = {}): void => {
    const at = Date.now()
    const said = redactForLog({ at: new Date(at).toISOString(), level: of, message, ...common, ...facts })
    write(JSON.stringify(of === 'error' ? { ...Object(said), ...metric(at) } : said))
  }
  return {
    info: level === 'info' ? (message, facts) => line('info', message, facts) : () => {},
    error: (message, facts) => line('error', message, facts),
  }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

function metric(at: number) {
  const Metrics = [{ Name: 'unexpected_errors', Unit: 'Count' }]
  const CloudWatchMetrics = [{ Namespace: 'Sluice', Dimensions: [['stage', 'function']], Metrics }]
  return { unexpected_errors: 1, _aws: { Timestamp: at, CloudWatchMetrics } }
}
