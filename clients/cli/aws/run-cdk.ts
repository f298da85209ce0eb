import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refused } from '../refused.ts'

export interface CdkOptions {
  readonly profile?: string | undefined
  /** Says the region, too: the CDK's CLI has no option for it. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const INSTALLED = join('node_modules', '.bin', 'cdk')

/**
 * Runs the CDK's own CLI in this folder, the installed one before that of PATH, and shows what it says. Its stdout goes to
 * stderr: stdout is the answer of our command. Refused when it ends with anything but 0.
 */
export async function runCdk(args: readonly string[], { profile, env }: CdkOptions): Promise<void> {
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
