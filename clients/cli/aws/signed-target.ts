import { usage } from '../refused.ts'
import { awsCaller, type CallerOptions } from './aws-caller.ts'
import type { Executions } from './executions.ts'
import { createSign, type Sign } from './sign-request.ts'
import { stackUrl } from './stack-url.ts'

interface SignedOptions extends CallerOptions {
  readonly stack?: string | undefined
  /** Instead of a stack. */
  readonly url?: string | undefined
}

/** A deployment whose API is called with the AWS credentials of whoever runs the command. */
export interface SignedTarget {
  readonly url: string
  readonly sign: Sign
  /** What finds it again on another command line, for example ` --stack dev`. */
  readonly words: string
  /** Of its account, asked with the same credentials. */
  executions(): Promise<Executions>
}

/** Finds the deployment; only a stack's name costs a call. */
export async function openSignedTarget({ stack, url, profile, region }: SignedOptions): Promise<SignedTarget> {
  const caller = awsCaller({ profile, region: region ?? regionOf(url) })
  const found = stack === undefined ? url : await stackUrl(stack, caller)
  if (found === undefined) {
    throw usage('Cannot sign for no deployment: name it with --stack, or its address with --url or SLUICE_URL.')
  }
  const named = { stack, url: stack === undefined ? url : undefined, profile, region }
  const words = Object.entries(named).map(([name, value]) => (value === undefined ? '' : ` --${name} ${value}`))
  const executions = async () => (await import('./executions.ts')).executionsOf(caller)
  return { url: found.replace(/\/+$/, ''), sign: createSign(caller), words: words.join(''), executions }
}

/** API Gateway's own addresses say their region. */
const GATEWAY = /^https:\/\/[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?(\/|$)/

function regionOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : GATEWAY.exec(url)?.[1]
}
