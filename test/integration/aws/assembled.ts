import { join } from 'node:path'
import type { Settings } from '../../../shared/settings.ts'
import { onceARun } from '../once-a-run.ts'
import { type Assembly, readAssembly } from './assembly.ts'

/** The same as synthesize (synthesized.ts) writes, made once in a test run and only read. */
export async function assembled(
  context: Readonly<Record<string, unknown>> = {},
  settings?: Settings,
): Promise<Assembly> {
  const dir = await onceARun({ assembly: context, settings: settings ?? 'of stage dev' }, async (making) => {
    // Who waits for another file's synthesis need not load the CDK.
    const { synthesizeInto } = await import('./synthesized.ts')
    await synthesizeInto(making, context, settings)
  })
  return readAssembly(join(dir, 'out'))
}
