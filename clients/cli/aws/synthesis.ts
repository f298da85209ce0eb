import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { readFileIfAny } from '../terminal/files.ts'
import { Refused } from '../terminal/refused.ts'
import { quotedWord } from '../terminal/session.ts'
import type { DeployedProject, Templates } from './deploy-summary.ts'
import { findTroubles } from './deployment-troubles.ts'

/** One synthesis of a stage: what is shown of it is what is deployed. */
interface Synthesis extends DeployedProject {
  readonly templates: Templates
  /** The only hosts gates and webhooks may reach, empty = none; absent = any public one. */
  readonly egress?: readonly string[]
  /** Services the settings name, with their hosts: asked whatever `egress` says; absent = none. */
  readonly services?: readonly string[]
  /** Stacks that share the machines of documents (`sluice:document_stacks`). */
  readonly documentStacks: number
  /** `cdk` on what was synthesized, without synthesizing again. */
  cdk(...args: readonly string[]): Promise<void>
}

/** Synthesizes the stage into a folder of its own, which is gone when `use` is done. */
export async function withSynthesis(
  stage: string,
  options: CdkOptions,
  use: (made: Synthesis) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'))
  try {
    const context = [`sluice:stage=${stage}`, ...(options.context ?? [])].flatMap((pair) => ['--context', pair])
    await runCdk(['synth', '--quiet', '--output', folder, ...context, ...appOptions()], options)
    await use({
      ...readTemplates(folder),
      cdk: (...args) => runCdk([...args, '--app', folder], options),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Metadata of the stack with the functions (infra/aws/build-app.ts). */
const EGRESS = 'sluice:egress'
const SERVICES = 'sluice:services'
const STEPS = 'sluice:steps'
const CONTAINERS = 'sluice:containers'
const CALLS = 'sluice:calls'
/** Parameter of the stacks with machines (infra/aws/documents-stack.ts). */
export const LAYOUT = 'DocumentStacks'

export function readTemplates(folder: string): Omit<Synthesis, 'cdk'> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.template.json'))
  const read = files.sort().map((name) => {
    return [name.replace('.template.json', ''), JSON.parse(readFileSync(join(folder, name), 'utf8'))] as const
  })
  const told = (key: string) => read.map(([, { Metadata }]) => Metadata?.[key]).find((names) => names !== undefined)
  const egress = told(EGRESS)
  const services = told(SERVICES)
  const steps = told(STEPS)
  const containers = told(CONTAINERS)
  const calls = told(CALLS)
  const layout = read.map(([, { Parameters }]) => Parameters?.[LAYOUT]?.Default).find((number) => number !== undefined)
  return {
    documentStacks: Number(layout ?? 0),
    templates: Object.fromEntries(read.map(([name, { Resources }]) => [name, Resources])),
    ...(egress !== undefined && { egress: JSON.parse(egress) }),
    ...(services !== undefined && { services: JSON.parse(services) }),
    ...(steps !== undefined && { steps: JSON.parse(steps) }),
    ...(containers !== undefined && { containers: JSON.parse(containers) }),
    ...(calls !== undefined && { calls: JSON.parse(calls) }),
  }
}

interface CdkOptions {
  readonly profile?: string | undefined
  /** Besides the stage: `KEY=VALUE`, which wins over cdk.json. */
  readonly context?: readonly string[]
  /** A process group of its own: Ctrl-C on the terminal does not reach it, and CloudFormation is not left in the middle. */
  readonly apart?: boolean
  /** Says the region, too: the CDK's CLI has no option for it. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** From here upwards, as Node looks for packages. */
function installed(path: string): string | undefined {
  const folders = createRequire(join(process.cwd(), 'sluice.yaml')).resolve.paths(path) ?? []
  return folders.map((folder) => join(folder, path)).find((file) => existsSync(file))
}

/**
 * What the CDK starts: what the cdk.json of this folder says, else the stacks of this very package for the project that stands
 * here, so that a project needs no cdk.json.
 */
function appOptions(): readonly string[] {
  if (AppSchema.safeParse(jsonOf(readFileIfAny('cdk.json', 'settings'))).success) return []
  const main = fileURLToPath(new URL('../../../infra/aws/main.ts', import.meta.url))
  const missing = CDK_PACKAGES.filter((name) => installed(name) === undefined)
  if (missing.length > 0) throw noCdk(`this project has not installed ${missing.join(', ')}`)
  return ['--app', [process.execPath, main].map(quotedWord).join(' '), '--no-version-reporting']
}

/** Optional peers of the package: who deploys has them. */
const CDK_PACKAGES = ['aws-cdk', 'aws-cdk-lib', 'cdk-nag', 'constructs'] as const
const AppSchema = z.looseObject({ app: z.string() })

function jsonOf(text = 'null'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noCdk(why: string, cause?: unknown): Refused {
  const detail = `Cannot start the CDK: ${why}. Run \`npm install --save-dev ${CDK_PACKAGES.join(' ')}\` in the project, or \`npm ci\` in a clone.`
  return new Refused({ code: 'no_cdk', detail }, cause === undefined ? {} : { cause })
}

/** So much of what the CDK said is looked through for what is known of failures: its end has the reasons. */
const HEARD = 200_000

/**
 * Runs the CDK's own CLI in this folder, the installed one before that of PATH, and shows what it says on stderr: stdout is
 * the answer of our command. Refused when it ends with anything but 0, with what is known of such a failure.
 */
async function runCdk(args: readonly string[], { profile, env, apart = false }: CdkOptions): Promise<void> {
  const program = installed(join('.bin', 'cdk')) ?? 'cdk'
  const all = [...args, ...(profile === undefined ? [] : ['--profile', profile])]
  const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: apart })
  let heard = ''
  for (const said of [child.stdout, child.stderr]) {
    said.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text)
      heard = (heard + text).slice(-HEARD)
    })
  }
  const [code, signal] = await once(child, 'close').catch((error: unknown) => {
    throw noCdk(error instanceof Error ? error.message : String(error), error)
  })
  if (code === 0) return
  const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
  const troubles = findTroubles(heard)
  const known = troubles.map(({ what, fix }) => ` Known: ${what}. ${fix}`).join('')
  const detail = `\`cdk ${args[0]}\` ${how}; what it said stands above. CloudFormation has rolled back what it had begun, or shows it.${known}`
  throw new Refused({ code: 'cdk_failed', detail, facts: { troubles: troubles.map((trouble) => ({ ...trouble })) } })
}
