import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { FUNCTIONS } from '../../../shared/catalog.ts'

const REGION = 'eu-central-1'
const ACCOUNT = '111122223333'

/** What the deployment tells a function, with every value there is: enough for any bundle to start. */
function environment(): Readonly<Record<string, string>> {
  const arn = (name: string) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:sluice-dev-${name}`
  const arns = FUNCTIONS.map(({ name }) => [`${name.toUpperCase().replaceAll('-', '_')}_ARN`, arn(name)])
  return {
    STAGE: 'dev',
    AWS_REGION: REGION,
    TABLE: 'sluice-dev',
    BUCKET: `sluice-dev-${ACCOUNT}-${REGION}`,
    DROPS: `sluice-dev-drops-${ACCOUNT}-${REGION}`,
    STATE_MACHINE_ROLE_ARN: `arn:aws:iam::${ACCOUNT}:role/sluice-dev-machines-${REGION}`,
    ...Object.fromEntries(arns),
  }
}

export interface Imported {
  /** Of the import alone, in a fresh process. */
  readonly ms: number
  readonly answer: unknown
  readonly stderr: string
}

/**
 * Imports a bundle as Lambda does, in a process of its own, and calls its handler when there is an event. `env` replaces
 * the whole environment.
 */
export function importBundle(built: string, name: string, event?: unknown, env = environment()): Imported {
  const file = join(built, name, 'index.mjs')
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', CHILD, file, JSON.stringify(event ?? null)],
    {
      encoding: 'utf8',
      env: { ...env },
    },
  )
  const line = stdout.split('\n').find((text) => text.startsWith('{"ms"'))
  return { ms: Number.NaN, answer: undefined, ...(line === undefined ? {} : JSON.parse(line)), stderr }
}

/** Imports bundles one after another in one process, which none of them may disturb: what each exports as its handler. */
export function importBundles(built: string, names: readonly string[]) {
  const files = names.map((name) => [name, join(built, name, 'index.mjs')])
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', IMPORTER, JSON.stringify(files)],
    { encoding: 'utf8', env: { ...environment() } },
  )
  return { handlers: JSON.parse(stdout.split('\n').find((text) => text.startsWith('[')) ?? 'null'), stderr }
}

const IMPORTER = `
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (out) => out } }
const handlers = []
for (const [name, file] of JSON.parse(process.argv[1])) {
  const { handler } = await import(file).catch((error) => ({ handler: String(error) }))
  handlers.push([name, typeof handler === 'string' ? handler : typeof handler])
}
process.stdout.write(JSON.stringify(handlers) + '\\n')
process.exit(0)
`

const CHILD = `
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (out) => out } }
const [, file, event] = process.argv
const started = performance.now()
const { handler } = await import(file)
const ms = performance.now() - started
const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 20_000 }
const answer = event === 'null' ? typeof handler : await handler(JSON.parse(event), context)
process.stdout.write(JSON.stringify({ ms, answer }) + '\\n')
process.exit(0)
`
