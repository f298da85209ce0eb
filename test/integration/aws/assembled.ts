import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { onceARun } from '../once-a-run.ts'
import { type Assembly, ROOT, readAssembly } from './assembly.ts'

/** The templates synthesize (synthesized.ts) writes, made once in a test run and only read. */
export async function assembled(
  context: Readonly<Record<string, unknown>> = {},
  settings: Settings = readStageSettings(ROOT, { stage: 'dev' }),
  /** Files of the project by path, beside the shipped documents. */
  files: Readonly<Record<string, string>> = {},
): Promise<Assembly> {
  const dir = await onceARun({ assembly: context, settings, files }, async (making) => {
    // Who waits for another file's synthesis need not load the CDK.
    const { synthesizeInto } = await import('./synthesized.ts')
    await synthesizeInto(making, { context, settings, code: 'placeholders', project: projectWith(making, files) })
  })
  return readAssembly(join(dir, 'out'))
}

function projectWith(making: string, files: Readonly<Record<string, string>>): string {
  if (Object.keys(files).length === 0) return ROOT
  const project = join(making, 'project')
  cpSync(join(ROOT, 'dags'), join(project, 'dags'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  return project
}
