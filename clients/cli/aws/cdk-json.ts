import * as z from 'zod'
import { readFileIfAny } from '../terminal/files.ts'
import { Refused, usageError } from '../terminal/refused.ts'

const CdkSchema = z.looseObject({
  context: z
    .looseObject({
      'sluice:stage': z.string().optional(),
      'sluice:tags': z.record(z.string(), z.string()).optional(),
    })
    .optional(),
})

const SETTINGS = 'sluice.yaml'

/** Stages are what infra/aws/deploy-settings.ts allows. */
const STAGE = /^[a-z][a-z0-9]{0,11}$/

/** The stage that is meant: `given`, else the one cdk.json of this folder says, else `dev`. Refused where no project stands. */
export function readStage(given: string | undefined): string {
  const text = readFileIfAny('cdk.json', 'settings')
  if (text === undefined && readFileIfAny(SETTINGS, 'settings') === undefined) throw noProject()
  const told = CdkSchema.safeParse(text === undefined ? {} : jsonOf(text)).data?.context?.['sluice:stage']
  const stage = given ?? told ?? 'dev'
  if (STAGE.test(stage)) return stage
  throw usageError(`A stage is a letter, then small letters and digits, 12 at most; this is "${stage}".`)
}

/** What the cdk.json of this folder puts on everything. */
export function tagsOfCdkJson(): Readonly<Record<string, string>> {
  const text = readFileIfAny('cdk.json', 'settings')
  return CdkSchema.safeParse(text === undefined ? {} : jsonOf(text)).data?.context?.['sluice:tags'] ?? {}
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noProject(): Refused {
  const detail = `No project stands in this folder: there is no ${SETTINGS} and no cdk.json. What is deployed is the project of the folder, its documents, steps, gates and settings: go to it, or write one with \`sluice init\` (docs/deploy.md).`
  return new Refused({ code: 'no_project', detail })
}
