import * as z from 'zod'
import { readFileIfAny } from './read-file.ts'
import { Refused, usage } from './refused.ts'

const CdkSchema = z.looseObject({ context: z.looseObject({ 'sluice:stage': z.string() }) })

/** Stages are what infra/aws/settings.ts allows. */
const STAGE = /^[a-z][a-z0-9]{0,11}$/

/** The stage that is meant: `given`, else the one cdk.json of this folder says. Refused outside a checkout of Sluice. */
export function stageOfCheckout(given: string | undefined): string {
  const text = readFileIfAny('cdk.json', 'settings')
  const parsed = CdkSchema.safeParse(text === undefined ? undefined : jsonOf(text))
  if (!parsed.success)
    throw noCheckout(text === undefined ? 'there is no cdk.json' : 'its cdk.json has no "sluice:stage"')
  const stage = given ?? parsed.data.context['sluice:stage']
  if (STAGE.test(stage)) return stage
  throw usage(`A stage is a letter, then small letters and digits, 12 at most; this is "${stage}".`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noCheckout(why: string): Refused {
  const detail = `This folder is no checkout of Sluice: ${why}. Deployments are made from one, since it holds the stacks and your documents (docs/deploy.md).`
  return new Refused({ code: 'no_checkout', detail })
}
