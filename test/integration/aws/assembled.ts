import { join } from 'node:path'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { onceARun } from '../once-a-run.ts'
import { type Assembly, ROOT, readAssembly } from './assembly.ts'

/** The templates synthesize (synthesized.ts) writes, made once in a test run and only read. */
export async function assembled(
  context: Readonly<Record<string, unknown>> = {},
  settings: Settings = readStageSettings(ROOT, { stage: 'dev' }),
): Promise<Assembly> {
  const dir = await onceARun({ assembly: context, settings }, async (making) => {
    // Who waits for another file's synthesis need not load the CDK.
    const { synthesizeInto } = await import('./synthesized.ts')
    await synthesizeInto(making, { context, settings, code: 'placeholders' })
  })
  return readAssembly(join(dir, 'out'))
}
