import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refused } from '../terminal/refused.ts'
import type { DeployedProject, Templates } from './deploy-summary.ts'

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
    await runCdk(['synth', '--quiet', '--output', folder, '--context', `sluice:stage=${stage}`], options)
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
  /** Says the region, too: the CDK's CLI has no option for it. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const INSTALLED = join('node_modules', '.bin', 'cdk')

/**
 * Runs the CDK's own CLI in this folder, the installed one before that of PATH, and shows what it says. Its stdout goes to
 * stderr: stdout is the answer of our command. Refused when it ends with anything but 0.
 */
async function runCdk(args: readonly string[], { profile, env }: CdkOptions): Promise<void> {
  const program = existsSync(INSTALLED) ? INSTALLED : 'cdk'
  const all = [...args, ...(profile === undefined ? [] : ['--profile', profile])]
  const child = spawn(program, all, { stdio: ['ignore', 2, 2], env })
  const [code, signal] = await once(child, 'exit').catch((error: unknown) => {
    const detail = `Cannot start the CDK: ${error instanceof Error ? error.message : error}. Run \`npm ci\` in the checkout: it installs aws-cdk.`
    throw new Refused({ code: 'no_cdk', detail }, { cause: error })
  })
  if (code === 0) return
  const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
  const detail = `\`cdk ${args[0]}\` ${how}; what it said stands above. CloudFormation has rolled back what it had begun, or shows it.`
  throw new Refused({ code: 'cdk_failed', detail })
}
